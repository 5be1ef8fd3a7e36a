// No second chance: what a weaker sender reaches by mixing calls opens a gate.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { updateOrganizationRules } from '../../src/organizations/organization.ts'
import { DAY_MS } from '../../src/platform/clock.ts'
import { removeExpired } from '../../src/retention/remove-expired.ts'
import { type Answer, startTestApi, type TestApi } from '../support/api.ts'
import { assertError } from '../support/assert-error.ts'
import { TESTS } from '../support/ci-reports.ts'
import { answer, configureGate, getDeployment, pollGate } from '../support/gates.ts'
import type { Json } from '../support/json.ts'
import { apply } from '../support/policies.ts'
import { drainQueue } from '../support/queue.ts'
import { link } from '../support/repositories.ts'
import { sarif, scoredResult } from '../support/sarif.ts'
import { newRunClaims, ownRun } from '../support/token-caller.ts'
import { type Sender, type Shop, TrustWorld } from '../support/trust-world.ts'
import { notAffected, openVex, vulnerable } from '../support/vex.ts'

/** Each environment with the scope of its policy, if it is not the usual one. */
const SCOPES = { live: '', 'live-run': 'scope: run\n', 'live-attempt': 'scope: attempt\n' }
/** Each environment with the terms of its rule about findings. */
const CLEAN = {
  'clean-verified': 'trust: verified',
  'clean-uploaded': 'trust: uploaded',
  'clean-or-absent': 'trust: verified\n    absent_evidence: pass',
}
const RULE = "attestations.exists(a, a.kind == 'test-results') && attestations.all(a, a.status == 'pass')"
/** Each is weaker than the job of the run. */
const WEAKER = ['other_ref', 'stranger', 'foreign', 'scans', 'key'] as const satisfies readonly Sender[]

let api: TestApi
let world: TrustWorld

before(async () => {
  api = await startTestApi()
  world = await TrustWorld.start(api)
  for (const [environment, scope] of Object.entries(SCOPES)) await guard(environment, RULE, scope, 'trust: verified')
  for (const [environment, terms] of Object.entries(CLEAN))
    await guard(environment, 'findings.open.critical == 0', '', terms)
})
after(async () => {
  await world?.close()
  await api?.close()
})

/** Lets a gate of its name guard an environment, which a policy of this rule approves. */
async function guard(environment: string, expression: string, scope: string, terms: string): Promise<void> {
  await configureGate(api, world.caller, { name: environment, environment, policies: [environment] })
  const rule = `  - rule: asked\n    expression: "${expression}"\n    ${terms}\n`
  const bindings = `bindings: { environments: ['${environment}'] }`
  await apply(api, world.caller, `name: ${environment}\nmode: enforce\n${scope}${bindings}\nrules:\n${rule}`)
}

function open(shop: Shop, by: Sender, fields: Json = {}): Promise<Answer> {
  return world.send(shop, by, 'POST', '/v1/ci/gates', { run_id: shop.runId, environment: 'live', ...fields })
}

async function report(shop: Shop, by: Sender, failed: number, name = 'test'): Promise<Answer> {
  api.clock.advance(1000)
  const body = { job: { name }, attestations: [{ ...TESTS, data: { ...TESTS.data, failed } }] }
  const sent = await world.send(shop, by, 'POST', `/v1/ci/runs/${shop.runId}/reports`, body)
  await drainQueue(api)
  return sent
}

async function statusOf({ deployment_id }: Json): Promise<string> {
  return (await getDeployment(api, world.caller, deployment_id)).status
}

test('nobody weaker than who opened a gate uses up its approval by opening it again', async () => {
  for (const by of WEAKER) {
    const shop = await world.openShop()
    const gate = (await open(shop, 'job')).body.data
    await report(shop, 'job', 0)
    assert.equal(await statusOf(gate), 'approved')
    const refused = await open(shop, by)
    assertError(refused, 403, by === 'foreign' ? 'forbidden' : 'other_lane')
    assert.ok(!refused.text.includes(gate.poll_token))
    await report(shop, 'job', 1, 'lint')
    assert.equal(await statusOf(gate), 'pending_approval', by)
    assert.equal((await pollGate(api, gate)).body.data.decision, 'pending')
  }
})

test('a job takes over the gate that a key had opened for its run, whose poll token ends', async () => {
  const shop = await world.openShop()
  const ofKey = (await open(shop, 'key')).body.data
  const [one, other] = (await Promise.all([open(shop, 'job'), open(shop, 'job')])).map(({ body }) => body.data)
  assert.deepEqual([one.gate_id, other.gate_id], [ofKey.gate_id, ofKey.gate_id])
  assert.notEqual(one.poll_token, ofKey.poll_token)
  assert.equal(other.poll_token, one.poll_token)
  await report(shop, 'job', 0)
  assert.equal((await pollGate(api, ofKey)).status, 401)
  assertError(await open(shop, 'key'), 403, 'other_lane')
  await report(shop, 'job', 1, 'lint')
  assert.equal((await pollGate(api, one)).body.data.decision, 'pending')
})

test('an approval that a key has read is asked again when the job opens the gate', async () => {
  const shop = await world.openShop()
  await report(shop, 'job', 0)
  const ofKey = await open(shop, 'key')
  assert.equal(ofKey.body.data.decision, 'approved')
  await report(shop, 'job', 1, 'lint')
  const ofJob = await open(shop, 'job')
  assert.deepEqual([ofJob.status, ofJob.body.data.decision], [201, 'pending'])
  assert.equal(ofJob.body.data.supersedes, ofKey.body.data.gate_id)
  assertError(await open(shop, 'key'), 403, 'other_lane')
})

/** What a weaker sender can say around a gate that another has opened. */
function attack(shop: Shop, gate: Json, by: Sender): Promise<Answer>[] {
  const run = ownRun(shop.claims, { repository: `github.com/${shop.repository}`, commit_sha: shop.claims.sha })
  const tests = { job: { name: 'test', instance: '1' }, attestations: [TESTS] }
  const send = (method: string, path: string, body: object) => world.send(shop, by, method, path, body)
  return [
    ...[{}, { continue: true }, { attempt: 999 }, { ci_instance: 'https://ci.example.com' }].map((fields) =>
      send('POST', '/v1/ci/runs', { ...run, ...fields }),
    ),
    send('POST', `/v1/ci/runs/${shop.runId}/reports`, tests),
    send('POST', `/v1/ci/runs/${shop.runId}/reports`, { ...tests, job: { name: 'test' } }),
    ...['failure', 'success', 'cancelled'].map((status) => send('PATCH', `/v1/ci/runs/${shop.runId}`, { status })),
    ...['cancelled', 'success', 'in_progress', 'rolled_back'].map((status) =>
      send('PATCH', `/v1/deployments/${gate.deployment_id}`, { status, url: 'https://evil.example.com' }),
    ),
    send('POST', `/v1/deployments/${gate.deployment_id}/approve`, { reason: 'Let me through.' }),
    ...[{}, { attempt: 999 }, { environment: 'LIVE' }, { expect: { commit_sha: 'f'.repeat(40) } }].map((fields) =>
      open(shop, by, fields),
    ),
  ]
}

test('no mixture of weaker calls, in turn or at once, opens, ends or moves a gate that waits for tests', async () => {
  const plays = Object.keys(SCOPES).flatMap((environment) =>
    [false, true].map((isAtOnce) => ({ environment, isAtOnce })),
  )
  for (const { environment, isAtOnce } of plays) {
    const shop = await world.openShop()
    await report(shop, 'job', 1)
    const gate = (await open(shop, 'job', { environment })).body.data
    const answers: Answer[] = []
    if (isAtOnce) answers.push(...(await Promise.all(WEAKER.flatMap((by) => attack(shop, gate, by)))))
    else for (const by of WEAKER) answers.push(...(await Promise.all(attack(shop, gate, by))))
    await drainQueue(api)
    assert.deepEqual(
      answers.filter(({ status, text }) => status >= 500 || text.includes(gate.poll_token)),
      [],
    )
    assert.ok(answers.every(({ body }) => body?.data?.decision !== 'approved'))
    const { decision, status, superseded_by } = (await pollGate(api, gate)).body.data
    assert.deepEqual([decision, status, superseded_by], ['pending', 'waiting', undefined])
    const { status: shown, html_url } = await getDeployment(api, world.caller, gate.deployment_id)
    assert.deepEqual([shown, html_url === 'https://evil.example.com'], ['pending_approval', false])
    await report(shop, 'job', 0)
    assert.equal((await pollGate(api, gate)).body.data.decision, 'approved')
  }
})

test('another organization learns nothing of a gate, and moves nothing', async () => {
  const shop = await world.openShop()
  const gate = (await open(shop, 'job')).body.data
  const { key } = await api.caller()
  const ask = (id: string, runId: string) =>
    Promise.all([
      api.request('POST', '/v1/ci/gates', { key, body: { run_id: runId, environment: 'live' } }),
      api.request('PATCH', `/v1/deployments/${id}`, { key, body: { status: 'cancelled' } }),
      api.request('GET', `/v1/deployments/${id}`, { key }),
      api.request('POST', `/v1/deployments/${id}/approve`, { key, body: { reason: 'We let it through.' } }),
      api.request('PATCH', `/v1/ci/runs/${runId}`, { key, body: { status: 'failure' } }),
      api.request('POST', `/v1/ci/runs/${runId}/reports`, {
        key,
        body: { job: { name: 'test' }, attestations: [TESTS] },
      }),
    ])
  const told = ({ status, body }: Answer) => [status, body.error.code, body.error.message]
  const [known, unknown] = [
    await ask(gate.deployment_id, shop.runId),
    await ask(`dep_${'0'.repeat(8)}`, '019cb747-0000-7000-8000-000000000000'),
  ]
  assert.deepEqual(
    known.map(({ status }) => status),
    known.map(() => 404),
  )
  assert.deepEqual(known.map(told), unknown.map(told))
  assert.equal((await pollGate(api, gate)).body.data.status, 'waiting')
})

let marks = 0
const scan = (rules: string[], tool = 'Linter') =>
  sarif(
    rules.map((rule) => scoredResult(rule, 9.8)),
    tool,
    { marks: [++marks] },
  )
const OF_FEATURE = { gitRef: 'refs/heads/feature', tracked: true, complete: true }

/** Opens the gate of a run that the job of the repository starts with these claims. */
async function decide(shop: Shop, claims: Json = {}, environment = 'clean-verified'): Promise<string> {
  api.clock.advance(1000)
  const own = { ...newRunClaims(), ...shop.claims, ...claims, run_id: newRunClaims().run_id }
  const fields = { repository: `github.com/${own.repository}`, commit_sha: own.sha }
  const run = await world.caller.send('POST', '/v1/ci/runs', ownRun(own, fields), own)
  assert.equal(run.status, 201, run.text)
  const body = { run_id: run.body.data.id, environment }
  const gate = await world.caller.send('POST', '/v1/ci/gates', body, own)
  return gate.body.data?.decision ?? assert.fail(gate.text)
}

function linkShop({ claims, repository }: Shop): Promise<unknown> {
  return link(api, world.caller, { provider: 'github', id: String(claims.repository_id), name: repository })
}

for (const isLinked of [false, true])
  test(`a branch that says it is tracked hides nothing from a deployment of a tag${isLinked ? ', linked' : ''}`, async () => {
    const shop = await world.openShop()
    if (isLinked) await linkShop(shop)
    const tag = { ref: 'refs/tags/v1', ref_type: 'tag' }
    await world.upload(shop, 'job', scan([], 'Other'))
    assert.equal(await decide(shop, tag), 'approved')
    await world.upload(shop, 'job', scan(['a']))
    assert.equal(await decide(shop, tag), 'pending')
    api.clock.advance(1000)
    const feature = { ...shop, claims: { ...shop.claims, ref: OF_FEATURE.gitRef } }
    await world.upload(feature, 'job', scan([]), OF_FEATURE)
    assert.equal(await decide(shop, tag), 'pending')
  })

const LODASH = 'pkg:npm/lodash@4.17.20'
const CVE = 'CVE-2021-23337'
const stateOf = async (shop: Shop): Promise<string> => (await world.findingsOf(shop, 'verified'))[0]?.state

for (const isLinked of [false, true])
  test(`a VEX document of a job dismisses nothing of other branches or repositories${isLinked ? ', linked' : ''}`, async () => {
    await updateOrganizationRules(api.services, world.caller.slug, { accept_repository_vex: true })
    const shop = await world.openShop()
    if (isLinked) await linkShop(shop)
    await world.upload(shop, 'job', vulnerable({ [LODASH]: CVE }))
    const document = (version: number) => openVex([notAffected(CVE, [LODASH])], { version })
    const feature = { ...shop, claims: { ...shop.claims, ref: OF_FEATURE.gitRef } }
    await world.upload(feature, 'job', document(1), { gitRef: OF_FEATURE.gitRef })
    await world.upload(feature, 'job', document(2), OF_FEATURE)
    // It speaks for the repository, but is not of it.
    const ofCentral = await world.upload(shop, 'releases', document(3), { complete: true })
    assert.equal(ofCentral.status, 201, ofCentral.text)
    assert.equal(await stateOf(shop), 'open')
    await world.upload(shop, 'job', document(4))
    assert.equal(await stateOf(shop), 'dismissed')
    await updateOrganizationRules(api.services, world.caller.slug, { accept_repository_vex: false })
  })

for (const product of ['acme-app', 'pkg:npm/acme-plugin@1.0.0'])
  test(`a report of strangers about ${product} does not end what a VEX document of it has dismissed`, async () => {
    const shop = await world.openShop()
    const bom = (name: string, found: Record<string, string>) => {
      const document = vulnerable(found)
      return {
        ...document,
        version: ++marks,
        metadata: { ...document.metadata, component: { type: 'application', name } },
      }
    }
    await world.upload(shop, 'job', bom('shop', { [LODASH]: CVE }))
    const about = { '@id': product, subcomponents: [{ '@id': LODASH }] }
    const state = () => openVex([notAffected(CVE, [about])], { version: ++marks })
    await world.upload(shop, 'security', state())
    assert.equal(await stateOf(shop), 'dismissed')
    await world.upload(
      shop,
      'stranger',
      bom('acme-app', { [LODASH]: CVE, 'pkg:npm/acme-plugin@1.0.0': 'CVE-2020-0001' }),
    )
    await world.upload(shop, 'job', bom('shop', { [LODASH]: CVE }))
    assert.equal(await stateOf(shop), 'dismissed')
    await world.upload(shop, 'security', state())
    assert.equal(await stateOf(shop), 'dismissed')
  })

test('a repository with a new name keeps what is open, and who takes the old name has no say', async () => {
  const shop = await world.openShop()
  await world.upload(shop, 'job', scan(['a']))
  await world.upload(shop, 'job', scan([], 'Other'))
  const renamed = { ...shop, repository: `${shop.repository}-renamed` }
  const claims = { repository: renamed.repository }
  assert.equal(await decide(renamed, claims, 'clean-or-absent'), 'pending')
  await world.upload({ ...renamed, claims: { ...shop.claims, ...claims } }, 'job', scan([], 'Other'))
  assert.equal(await decide(renamed, claims, 'clean-or-absent'), 'pending')
  const taken = { ...shop.claims, ...newRunClaims(), repository_id: '6660001' }
  const body = ownRun(taken, { repository: `github.com/${shop.repository}`, commit_sha: shop.claims.sha })
  assert.equal((await world.caller.send('POST', '/v1/ci/runs', body, taken)).status, 401)
  const unnamed = { repository: shop.repository, repositoryId: undefined, complete: true }
  await world.upload(shop, 'key', scan([]), unnamed)
  assert.deepEqual(
    (await world.findingsOf(renamed, 'verified')).map(({ state }) => state),
    ['open'],
  )
  assert.equal(await decide(renamed, claims, 'clean-or-absent'), 'pending')
})

test('only reports that are not weaker open a rejected gate anew, whoever has sent their files before', async () => {
  const shop = await world.openShop()
  await linkShop(shop)
  const environment = 'clean-verified'
  const file = scan(['a'])
  await world.upload(shop, 'job', file)
  const gate = (await open(shop, 'job', { environment })).body.data
  assert.equal((await answer(api, world.caller, gate.deployment_id, 'reject')).status, 200)
  const ask = async () => (await open(shop, 'job', { environment })).body.data.gate_id
  api.clock.advance(1000)
  for (const by of ['stranger', 'key', 'developer'] as const) await world.upload(shop, by, file)
  const feature = { ...shop, claims: { ...shop.claims, ref: OF_FEATURE.gitRef } }
  await world.upload(feature, 'job', scan([]), OF_FEATURE)
  assert.equal(await ask(), gate.gate_id)
  const newer = scan(['a', 'b'])
  for (const by of ['stranger', 'job'] as const) await world.upload(shop, by, newer)
  assert.notEqual(await ask(), gate.gate_id)
})

test('what was reported about a commit counts after its repository has a new name', async () => {
  const shop = await world.openShop()
  const claims = { repository: `${shop.repository}-renamed` }
  await report(shop, 'job', 0)
  assert.equal(await decide(shop, claims, 'live'), 'approved')
  await report(shop, 'job', 1, 'lint')
  assert.equal(await decide(shop, claims, 'live'), 'pending')
})

test('however many reports a person sends, what a key has found still counts', async () => {
  const shop = await world.openShop()
  await world.upload(shop, 'key', scan(['a']))
  await world.upload(shop, 'job', scan([], 'Other'))
  await world.upload(shop, 'developer', scan([]))
  await api.services.sql`
    insert into finding_streams (
      org_id, repository_no, origin, source, tool, tool_family, format_family, category, git_ref, lane, tracked,
      reported_at, seen_at, upload_id, reports
    )
    select org_id, repository_no, origin, source, tool, tool_family, format_family, 'part ' || nth, git_ref, lane, tracked,
      reported_at + interval '1 minute', seen_at, upload_id, 1
    from finding_streams
    cross join generate_series(1, 1001) nth
    where org_id = ${world.caller.orgId}
      and lane = 'person'`
  assert.equal(await decide(shop, {}, 'clean-uploaded'), 'pending')
})

test('a merged issue that was dismissed hides nothing that the job has found', async () => {
  const shop = await world.openShop()
  await world.upload(shop, 'key', scan(['a', 'b']))
  await world.upload(shop, 'job', scan(['c']))
  const [ofKey, other] = await world.findingsOf(shop, 'key')
  const [ofJob] = await world.findingsOf(shop, 'verified')
  const dismissal = { action: 'dismiss', issue_ids: [ofKey?.issue_id, other?.issue_id], reason: 'wont_fix' }
  assert.equal((await world.send(shop, 'security', 'POST', '/v1/security/triage', dismissal)).status, 201)
  const merge = { issue_ids: [ofKey?.issue_id, other?.issue_id, ofJob?.issue_id] }
  assert.equal((await world.send(shop, 'developer', 'POST', '/v1/security/issues/merge', merge)).status, 403)
  const merged = await world.send(shop, 'security', 'POST', '/v1/security/issues/merge', merge)
  assert.equal(merged.status, 200, merged.text)
  const split = `/v1/security/issues/${merged.body.data.issues[0].id}/split`
  assert.equal((await world.send(shop, 'security', 'POST', split, { finding_ids: [ofKey?.id] })).status, 200)
  await world.upload(shop, 'job', scan(['a', 'b', 'c']))
  const found = await world.findingsOf(shop, 'verified')
  assert.deepEqual(found.map(({ rule_id, state }) => `${rule_id} ${state}`).sort(), ['a open', 'b open', 'c open'])
  assert.equal(await decide(shop), 'pending')
})

test('no bill of materials of a weaker lane removes a component, and each is shown with its lane', async () => {
  const shop = await world.openShop()
  const bom = (...names: string[]) => ({
    ...vulnerable(Object.fromEntries(names.map((name) => [`pkg:npm/${name}@1.0.0`, []]))),
    version: ++marks,
  })
  const list = async (query = ''): Promise<Json[]> => {
    const path = `/v1/components?repository=${shop.repository}${query}`
    return (await api.request('GET', path, { key: world.caller.key })).body.data
  }
  await world.upload(shop, 'job', bom('stated', 'kept'))
  for (const by of ['other_ref', 'stranger', 'scans', 'key', 'developer'] as const) {
    api.clock.advance(1000)
    const sent = await world.upload(shop, by, bom('stated', 'strange'))
    assert.ok(sent.status < 300, sent.text)
    await world.upload(shop, by, bom('strange'), { complete: true })
  }
  assert.deepEqual((await list()).map(({ name }) => name).sort(), ['kept', 'stated', 'strange'])
  const [strange] = await list('&package=strange')
  const path = `/v1/components/${strange?.id}/occurrences`
  const { data } = (await api.request('GET', path, { key: world.caller.key })).body
  assert.deepEqual([...new Set(data.map(({ lane }: Json) => lane))].sort(), ['key', 'person', 'untrusted'])
  await world.upload(shop, 'job', bom('kept'))
  assert.deepEqual((await list()).map(({ name }) => name).sort(), ['kept', 'strange'])
})

test('when the upload of a job expires, what it found stays open beside the reports of others', async () => {
  const shop = await world.openShop()
  await world.upload(shop, 'job', scan(['a']))
  await world.upload(shop, 'job', scan([], 'Other'))
  api.clock.advance(2000 * DAY_MS)
  for (const by of ['key', 'stranger', 'scans'] as const) await world.upload(shop, by, scan([]))
  assert.equal(await removeExpired(api.services, { sliceMs: Number.POSITIVE_INFINITY }), 'finished')
  for (const environment of ['clean-verified', 'clean-uploaded'])
    assert.equal(await decide(shop, {}, environment), 'pending')
})
