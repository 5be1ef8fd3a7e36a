// No second chance: who may close findings.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { updateOrganizationRules } from '../../../../../src/organizations/organization.ts'
import { readReportFile } from '../../../../../src/security/uploads/read-report-file.ts'
import { type Answer, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError } from '../../../../support/assert-error.ts'
import { listFindings } from '../../../../support/findings.ts'
import { configureGate } from '../../../../support/gates.ts'
import type { Json } from '../../../../support/json.ts'
import { createPerson, type Person, requestAs } from '../../../../support/people.ts'
import { apply } from '../../../../support/policies.ts'
import { sarif, scoredResult } from '../../../../support/sarif.ts'
import { newRunClaims, ownRun, startTokenCaller, type TokenCaller } from '../../../../support/token-caller.ts'
import { notAffected, openVex, vulnerable } from '../../../../support/vex.ts'

const REPOSITORY = { repository: 'acme/shop', provider: 'github', repositoryId: '7770001' }
const COMMIT = '9f2a1c3b4d5e6f708192a3b4c5d6e7f801234567'
const STRANGE = { event_name: 'pull_request_target' }
const FEATURE = { ref: 'refs/heads/feature' }

let api: TestApi
let caller: TokenCaller
let developer: Person

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await startTokenCaller(api)
  developer = await createPerson(api, { orgId: caller.orgId, slug: caller.slug, role: 'developer' })
})
test.afterEach(() => caller.close())

type Send = (method: string, path: string, body?: unknown) => Promise<Answer>

const byToken =
  (claims = {}): Send =>
  (method, path, body) =>
    caller.send(method, path, body, newRunClaims(claims))
const byKey: Send = (method, path, body) => api.request(method, path, { key: caller.key, body })
const byPerson: Send = (method, path, body) => requestAs(api, developer, method, path.replace('/v1', ''), body)

/** The senders whose word is weaker than that of the job of the tracked branch. */
const WEAKER: [string, () => Send, Json][] = [
  ['an untrusted token', () => byToken(STRANGE), {}],
  ['a token of a feature branch that names main', () => byToken(FEATURE), { gitRef: 'main' }],
  ['a token that names another commit', () => byToken(), { commitSha: '1111111' }],
  ['a Developer', () => byPerson, { gitRef: 'refs/heads/main' }],
  ['an API key', () => byKey, { gitRef: 'main', tracked: true }],
]

function post(send: Send, file: object, fields: Json = {}): Promise<Answer> {
  const bytes = Buffer.from(JSON.stringify(file))
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const body = { filename: 'scan.sarif', size: bytes.length, sha256, ...REPOSITORY, ...fields }
  return send('POST', '/v1/security/uploads', body)
}

/** The calls of an upload, until the file has been read. */
async function upload(send: Send, file: object, fields: Json = {}): Promise<Json> {
  api.clock.advance(1000)
  const created = await post(send, file, fields)
  assert.ok(created.status < 300, created.text)
  const { upload: stored, put } = created.body.data
  if (put !== null) {
    await fetch(put.url, { method: 'PUT', headers: put.headers, body: JSON.stringify(file) })
    await byKey('POST', `/v1/security/uploads/${stored.id}/complete`)
  }
  await readReportFile(api.services, { org_id: caller.orgId, upload_id: stored.id })
  const read = await byKey('GET', `/v1/security/uploads/${stored.id}`)
  assert.equal(read.body.data.status, 'finished', read.text)
  return read.body.data
}

const report = (rules: string[], mark = 0) =>
  sarif(
    rules.map((rule) => scoredResult(rule, 9.8)),
    'Linter',
    { marks: [mark] },
  )

/** The states of the findings by rule, those of all lanes together. */
async function states(): Promise<string[]> {
  const findings = await listFindings(api, caller)
  return findings.map(({ rule_id, state }) => `${rule_id} ${state}`).sort()
}

/** Whether a policy against critical findings lets a deployment of main pass. */
async function decide(): Promise<string> {
  const claims = newRunClaims()
  const run = (await caller.send('POST', '/v1/ci/runs', ownRun(claims), claims)).body.data
  const gate = await caller.send('POST', '/v1/ci/gates', { run_id: run.id, environment: 'production' }, claims)
  return gate.body.data.decision
}

async function refuseCritical(): Promise<void> {
  await configureGate(api, caller, { policies: ['critical'] })
  const expression = 'findings.open.critical == 0 && issues.open.critical == 0'
  const bound = "bindings: { environments: ['production'] }"
  const rule = `rules:\n  - rule: critical\n    expression: '${expression}'\n    trust: any\n`
  await apply(api, caller, `name: critical\nmode: enforce\n${bound}\n${rule}`)
}

for (const [who, sender, fields] of WEAKER)
  test(`an empty report by ${who} closes nothing, and the deployment stays blocked`, async () => {
    await refuseCritical()
    await upload(byToken(), report(['a', 'b']))
    assert.equal(await decide(), 'pending')
    const sent = await upload(sender(), report([]), fields)
    assert.equal(sent.counts.resolved, 0)
    await upload(sender(), report([], 1), { ...fields, complete: true })
    assert.deepEqual(await states(), ['a open', 'b open'])
    assert.equal(await decide(), 'pending')
    await upload(byToken(), report([], 2), { complete: true })
    assert.deepEqual(await states(), ['a fixed', 'b fixed'])
    assert.equal(await decide(), 'approved')
  })

for (const [who, sender, fields] of WEAKER)
  test(`what ${who} reports stands beside, and only its own next report closes it`, async () => {
    await upload(byToken(), report(['a']))
    await upload(sender(), report(['a', 'c']), fields)
    await upload(byToken(), report(['b']), { complete: true })
    assert.deepEqual(await states(), ['a fixed', 'a open', 'b open', 'c open'])
    await upload(sender(), report([]), { ...fields, complete: true })
    assert.deepEqual(await states(), ['a fixed', 'a fixed', 'b open', 'c fixed'])
  })

test('a report by another lane does not hide the newest scan from a rule', async () => {
  await configureGate(api, caller, { policies: ['scanned'] })
  const expression = 'scans.exists(s, s.tool == "Linter" && s.trust == "verified")'
  const bound = "bindings: { environments: ['production'] }"
  await apply(
    api,
    caller,
    `name: scanned\nmode: enforce\n${bound}\nrules:\n  - rule: scanned\n    expression: '${expression}'\n`,
  )
  await upload(byToken(), report([]))
  await upload(byKey, report([], 1), { gitRef: 'main' })
  await upload(byToken(STRANGE), report([], 2))
  assert.equal(await decide(), 'approved')
})

test('the same file in several lanes is one upload; the list of its lanes grows, and each has its stream', async () => {
  const file = report(['a'])
  const first = await upload(byKey, file, { gitRef: 'main', commitSha: '1111111' })
  const again = await upload(byToken(), file)
  assert.equal(again.id, first.id)
  assert.deepEqual(await states(), ['a open', 'a open'])
  assert.deepEqual(
    again.lanes.map(({ trust, commit_sha, tracked }: Json) => [trust, commit_sha, tracked]),
    [
      ['uploaded', '1111111', true],
      ['verified', COMMIT, true],
    ],
  )
  await upload(byToken(STRANGE), file, { tracked: true })
  const last = await upload(byPerson, file, { gitRef: 'main' })
  assert.deepEqual(
    last.lanes.map(({ trust, tracked }: Json) => [trust, tracked]),
    [
      ['uploaded', true],
      ['verified', true],
      ['untrusted', false],
      ['ui', true],
    ],
  )
  assert.equal((await states()).length, 4)
  await upload(byKey, report([], 1), { gitRef: 'main' })
  assert.deepEqual(await states(), ['a fixed', 'a open', 'a open', 'a open'])
})

test('a weaker lane changes neither the size nor the format of the file that a stronger one sends', async () => {
  const file = report(['a'])
  const bytes = JSON.stringify(file)
  await post(byKey, file, { gitRef: 'main', size: 1, format: 'cyclonedx' })
  const { upload: stored, put } = (await post(byToken(), file, { format: 'sarif' })).body.data
  for (const weaker of [byKey, byToken(STRANGE)])
    assert.equal((await post(weaker, file, { gitRef: 'main', size: 1, format: 'cyclonedx' })).status, 200)
  await fetch(put.url, { method: 'PUT', headers: put.headers, body: bytes })
  const done = await byToken()('POST', `/v1/security/uploads/${stored.id}/complete`)
  assert.deepEqual([done.status, done.body.data?.upload.status], [200, 'queued'], done.text)
  await readReportFile(api.services, { org_id: caller.orgId, upload_id: stored.id })
  assert.equal((await byKey('GET', `/v1/security/uploads/${stored.id}`)).body.data.status, 'finished')
  assert.ok((await states()).every((state) => state === 'a open'))
})

test('a token sends the file of a key again for its commit, and the commit of the key stays', async () => {
  const file = report(['a'])
  await upload(byKey, file, { gitRef: 'main', commitSha: '1111111' })
  await upload(byToken(), file)
  const commits = (await listFindings(api, caller)).map(({ commit_sha }) => commit_sha)
  assert.deepEqual(commits.sort(), ['1111111', COMMIT])
})

test('a token speaks about its own ref and commit if it names none, also in pull requests', async () => {
  const own = await upload(byToken(FEATURE), report(['a']))
  assert.deepEqual([own.git_ref, own.commit_sha, own.lanes[0].trust], ['refs/heads/feature', COMMIT, 'verified'])
  const short = await upload(byToken(FEATURE), report(['a'], 1), { gitRef: 'feature', commitSha: COMMIT.slice(0, 7) })
  assert.equal(short.lanes[0].trust, 'verified')
  const pull = { event_name: 'pull_request', ref: 'refs/pull/7/merge', head_ref: 'topic' }
  const head = await upload(byToken(pull), report(['a'], 2), { gitRef: 'topic', tracked: true })
  assert.deepEqual([head.lanes[0].trust, head.tracked], ['untrusted', false])
})

test('403 forbidden for an untrusted token that names another ref or commit', async () => {
  const pull = { ...STRANGE, ref: 'refs/heads/main' }
  for (const fields of [{ gitRef: 'release' }, { gitRef: 'refs/tags/main' }, { commitSha: '1111111' }])
    assertError(await post(byToken(pull), report([]), fields), 403, 'forbidden')
})

test('uploads of a commit are counted for each lane', async () => {
  const plan = api.services.plans.get('enterprise') as { security_uploads_per_commit_max: number }
  const limit = plan.security_uploads_per_commit_max
  await upload(byKey, report(['a'], -1), { gitRef: 'main', commitSha: COMMIT })
  await api.services.sql`
    insert into security_uploads (
      org_id, id, repository_no, origin, status, requested_format, filename, size, sha256, git_ref, commit_sha, tracked,
      trust, put_until, reported_at, created_at, updated_at
    )
    select org_id, md5(nth::text), repository_no, origin, 'finished', 'auto', filename, 1, md5(nth::text) || md5(nth::text),
      git_ref, commit_sha, tracked, trust, put_until, reported_at, created_at, updated_at
    from security_uploads
    cross join generate_series(2, ${limit}::int) nth
    where org_id = ${caller.orgId}`
  const refused = await post(byKey, report(['b']), { gitRef: 'main', commitSha: COMMIT })
  assertError(refused, 429, 'rate_limited')
  assert.equal((await post(byToken(), report(['b']))).status, 201)
})

/** Dismisses the issue of the first finding, as somebody with Triage does who looks at it. */
async function dismissIssue(): Promise<void> {
  const security = await createPerson(api, { orgId: caller.orgId, slug: caller.slug, role: 'security' })
  const [finding] = await listFindings(api, caller)
  const body = { action: 'dismiss', issue_ids: [finding.issue_id], reason: 'false_positive' }
  const { status, text } = await requestAs(api, security, 'POST', '/security/triage', body)
  assert.equal(status, 201, text)
}

test('a dismissal reaches new findings of its lane and of those that are not stronger, and no others', async () => {
  await upload(byKey, report(['a']), { gitRef: 'main' })
  await dismissIssue()
  await upload(byPerson, report(['a'], 1), { gitRef: 'main' })
  await upload(byToken(STRANGE), report(['a'], 2))
  assert.deepEqual(await states(), ['a dismissed', 'a dismissed', 'a dismissed'])
  await upload(byToken(), report(['a'], 3))
  assert.deepEqual(await states(), ['a dismissed', 'a dismissed', 'a dismissed', 'a open'])
})

test('a dismissed finding of a stronger lane dismisses the same problem in weaker ones', async () => {
  await upload(byToken(), report(['a']))
  await dismissIssue()
  for (const [index, [, sender, fields]] of WEAKER.entries()) await upload(sender(), report(['a'], index + 1), fields)
  assert.deepEqual(new Set(await states()), new Set(['a dismissed']))
})

const LODASH = 'pkg:npm/lodash@4.17.20'
const ID = 'CVE-2021-23337'
const VEX = openVex([notAffected(ID, [LODASH])])
const FOUND = vulnerable({ [LODASH]: ID })

const vexStates = async () => (await listFindings(api, caller)).map(({ state, dismissed_by_name: by }) => [state, by])
const confirm = (send: Send, id: string) => send('POST', `/v1/security/uploads/${id}/confirm`)

/** A key that sends reports, and may not triage. */
async function makeKey(createdByUserId?: string): Promise<Send> {
  const { orgId } = caller
  const made = { orgId, scopes: ['write:security-findings', 'read:security'] as const }
  const { key } = await api.caller({ ...made, ...(createdByUserId && { createdByUserId }) })
  return (method, path, body) => api.request(method, path, { key, body })
}

const byMember =
  (person: Person): Send =>
  (method, path, body) =>
    requestAs(api, person, method, path.replace('/v1', ''), body)

for (const [who, sender, fields] of [...WEAKER, ['a verified token', () => byToken(), {}]] as typeof WEAKER)
  test(`a VEX document of ${who} is a proposal that changes nothing`, async () => {
    await upload(byToken(), FOUND)
    const proposed = await upload(who === 'an API key' ? await makeKey() : sender(), VEX, fields)
    assert.equal(proposed.awaits_confirmation, true)
    assert.match(proposed.warnings.join(), /is a proposal/)
    assert.deepEqual(await vexStates(), [['open', null]])
  })

test('a proposal takes effect when somebody else with Triage confirms it, in both names', async () => {
  await upload(byToken(), FOUND)
  const security = await createPerson(api, { orgId: caller.orgId, slug: caller.slug, role: 'security', name: 'Kim' })
  const { id } = await upload(byPerson, VEX, { gitRef: 'main' })
  assertError(await confirm(byPerson, id), 403, 'insufficient_permission')
  assert.equal((await confirm(await makeKey(), id)).status, 403)
  assert.equal((await confirm(byToken(), id)).status, 403)
  assertError(await confirm(byMember(security), 'f'.repeat(32)), 404, 'not_found')
  assert.deepEqual(await vexStates(), [['open', null]])
  const confirmed = await confirm(byMember(security), id)
  assert.deepEqual([confirmed.status, confirmed.body.data?.upload.awaits_confirmation], [200, false], confirmed.text)
  assert.deepEqual(await vexStates(), [['dismissed', 'Ada Lovelace, confirmed by Kim']])
  assertError(await confirm(byMember(security), id), 409, 'not_proposed')
  const [entry] = await api.services.sql<{ principal_name: string }[]>`
    select principal_name from audit_entries where action = 'security_upload.confirm' and object_id = ${id}`
  assert.equal(entry?.principal_name, 'Kim')
})

test('409 uploader_refused for whoever sent the document, and for the keys of the same person', async () => {
  const security = await createPerson(api, { orgId: caller.orgId, slug: caller.slug, role: 'security' })
  await upload(byToken(), FOUND)
  const { id } = await upload(await makeKey(security.userId), VEX, { gitRef: 'main' })
  assertError(await confirm(byMember(security), id), 409, 'uploader_refused')
  assert.deepEqual(await vexStates(), [['open', null]])
  assert.equal((await confirm(byKey, id)).status, 200)
})

test('a key with write:triage speaks at once, and is named', async () => {
  await upload(byToken(), FOUND)
  const sent = await upload(byKey, VEX, { gitRef: 'main' })
  assert.equal(sent.awaits_confirmation, false)
  assert.deepEqual(await vexStates(), [['dismissed', 'test key']])
})

test('a proposal replaces no document that is in effect, and the same file raises it', async () => {
  await upload(byToken(), FOUND)
  await upload(byKey, VEX, { gitRef: 'main' })
  const key = await makeKey()
  const affected = openVex([{ ...notAffected(ID, [LODASH]), status: 'affected' }], { version: 2 })
  const proposed = await upload(key, affected, { gitRef: 'main' })
  assert.equal(proposed.awaits_confirmation, true)
  assert.equal((await vexStates())[0]?.[0], 'dismissed')
  assert.equal((await upload(byKey, affected, { gitRef: 'main' })).awaits_confirmation, false)
  assert.equal((await vexStates())[0]?.[0], 'open')
  assert.equal((await upload(key, VEX, { gitRef: 'main' })).awaits_confirmation, true)
  assert.equal((await vexStates())[0]?.[0], 'open')
})

test('accept_repository_vex lets verified tokens speak for their repository, and no others', async () => {
  await updateOrganizationRules(api.services, caller.slug, { accept_repository_vex: true })
  await upload(byToken(), FOUND)
  await upload(byToken(STRANGE), VEX)
  await upload(byToken(FEATURE), VEX, { gitRef: 'main' })
  assert.deepEqual(await vexStates(), [['open', null]])
  await upload(byToken(), VEX)
  const [[state, by] = []] = await vexStates()
  assert.equal(state, 'dismissed')
  assert.ok(by)
})
