// No second chance: whose word opens a gate.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { updateOrganizationRules } from '../../../../../src/organizations/organization.ts'
import { readReportFile } from '../../../../../src/security/uploads/read-report-file.ts'
import { type Answer, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError } from '../../../../support/assert-error.ts'
import { sendReport, TESTS } from '../../../../support/ci-reports.ts'
import { configureGate, pollGate } from '../../../../support/gates.ts'
import type { Json } from '../../../../support/json.ts'
import { createPerson, type Person, requestAs, signIn } from '../../../../support/people.ts'
import { apply } from '../../../../support/policies.ts'
import { drainQueue } from '../../../../support/queue.ts'
import { sarif, scoredResult } from '../../../../support/sarif.ts'
import { newRunClaims, ownRun, startTokenCaller, type TokenCaller } from '../../../../support/token-caller.ts'

const REPOSITORY = { repository: 'acme/shop', provider: 'github', repositoryId: '7770001' }
const STRANGE = { event_name: 'pull_request_target' }
const OF_FORK = { event_name: 'pull_request', ref: 'refs/pull/7/merge' }
const SCANNED = 'scans.exists(s, s.tool == "Linter")'
const TESTED = 'attestations.exists(a, a.kind == "test-results" && a.status == "pass")'

let api: TestApi
let caller: TokenCaller
let developer: Person
let reports = 0
let isGated: boolean

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await startTokenCaller(api)
  isGated = false
  developer = await createPerson(api, { orgId: caller.orgId, slug: caller.slug, role: 'developer' })
})
test.afterEach(() => caller.close())

/** A policy with one rule, and a gate that it approves. */
async function demand(expression: string, ...terms: string[]): Promise<void> {
  const lines = [`expression: '${expression}'`, ...terms].map((line) => `    ${line}`).join('\n')
  await apply(api, caller, `name: p\nmode: enforce\nrules:\n  - rule: r\n${lines}\n`)
  if (!isGated) await configureGate(api, caller, { policies: ['p'] })
  isGated = true
}

type Send = (method: string, path: string, body?: unknown) => Promise<Answer>

const byToken =
  (claims: Json = {}): Send =>
  (method, path, body) =>
    caller.send(method, path, body, newRunClaims(claims))
const byKey: Send = (method, path, body) => api.request(method, path, { key: caller.key, body })
const byPerson: Send = (method, path, body) => requestAs(api, developer, method, path.replace('/v1', ''), body)
const MAIN = { gitRef: 'refs/heads/main' }

/** Uploads a report, which has been read when this returns. */
async function upload(send: Send, fields: Json = {}, rules: string[] = [], tool = 'Linter'): Promise<void> {
  api.clock.advance(1000)
  const results = rules.map((rule) => scoredResult(rule, 9.8))
  const file = JSON.stringify(sarif(results, tool, { marks: [++reports] }))
  const sha256 = createHash('sha256').update(file).digest('hex')
  const body = { filename: 'scan.sarif', size: file.length, sha256, ...REPOSITORY, ...fields }
  const created = await send('POST', '/v1/security/uploads', body)
  assert.equal(created.status, 201, created.text)
  const { upload: stored, put } = created.body.data
  await fetch(put.url, { method: 'PUT', headers: put.headers, body: file })
  await byKey('POST', `/v1/security/uploads/${stored.id}/complete`)
  await readReportFile(api.services, { org_id: caller.orgId, upload_id: stored.id })
}

type Run = { id: string; claims: Json & { run_id: string } }

async function createRun(claims: Json = {}, fields: Json = {}): Promise<Run> {
  const own = newRunClaims(claims)
  const { status, text, body } = await caller.send('POST', '/v1/ci/runs', ownRun(own, fields), own)
  assert.equal(status, 201, text)
  return { id: body.data.id, claims: own }
}

/** Opens a gate for a run, a new one if none is given, and returns its answer. */
async function open(run?: Run): Promise<Json> {
  const { id: run_id, claims } = run ?? (await createRun())
  const gate = await caller.send('POST', '/v1/ci/gates', { run_id, environment: 'production' }, claims)
  assert.equal(gate.status, 201, gate.text)
  return gate.body.data
}

const decide = async (run?: Run): Promise<string> => (await open(run)).decision

const SENDERS: Record<string, [send: () => Send, fields: Json]> = {
  'a token': [() => byToken(), {}],
  'an API key': [() => byKey, MAIN],
  'a person': [() => byPerson, MAIN],
  'an untrusted token': [() => byToken(STRANGE), {}],
}
const SEEN: Record<string, string[]> = {
  verified: ['a token'],
  uploaded: ['a token', 'an API key'],
  any: ['a token', 'an API key'],
}

for (const [trust, seen] of Object.entries(SEEN))
  for (const [sender, [send, fields]] of Object.entries(SENDERS))
    test(`a rule with trust: ${trust} ${seen.includes(sender) ? 'sees' : 'does not see'} a scan by ${sender}`, async () => {
      await demand(SCANNED, `trust: ${trust}`)
      await upload(send(), fields)
      assert.equal(await decide(), seen.includes(sender) ? 'approved' : 'pending')
    })

test('what a key reports counts for trust: any alone', async () => {
  for (const [trust, decision] of [
    ['verified', 'pending'],
    ['uploaded', 'pending'],
    ['any', 'approved'],
  ] as const) {
    await demand(TESTED, `trust: ${trust}`)
    const run = await createRun()
    await sendReport(api, caller, run.id, { attestations: [TESTS] })
    assert.equal(await decide(run), decision, trust)
  }
})

test('a rule can ask for a protected ref, as the token of the run states it', async () => {
  await demand('has(run.ref_protected) && run.ref_protected')
  assert.equal(await decide(await createRun({ ref_protected: 'true' })), 'approved')
  for (const claims of [{ ref_protected: 'false' }, { ref_protected: 'perhaps' }])
    assert.equal(await decide(await createRun(claims)), 'pending')
  const reported = { ci_system: 'github-actions', external_run_id: '990001', repository: 'github.com/acme/shop' }
  const { body } = await byKey('POST', '/v1/ci/runs', {
    ...reported,
    commit_sha: 'c'.repeat(40),
    pipeline_name: 'build',
  })
  const gate = await byKey('POST', '/v1/ci/gates', { run_id: body.data.id, environment: 'production' })
  assert.equal(gate.body.data.decision, 'pending')
})

test('an untrusted run counts for trust: any unless it is of a branch', async () => {
  await demand(TESTED, 'trust: any')
  const decisions: string[] = []
  for (const claims of [STRANGE, OF_FORK]) {
    const run = await createRun(claims)
    const { status, text } = await caller.send(
      'POST',
      `/v1/ci/runs/${run.id}/reports`,
      { job: { name: 'test' }, attestations: [TESTS] },
      run.claims,
    )
    assert.equal(status, 201, text)
    decisions.push(await decide(run))
  }
  assert.deepEqual(decisions, ['pending', 'approved'])
})

/** Changes the default trust as a person who has just signed in. */
async function setDefault(default_trust: string, who: Person): Promise<Answer> {
  const fresh = { ...who, cookie: await signIn(api, who.userId) }
  return requestAs(api, fresh, 'PUT', '/default-trust', { default_trust })
}

test('a rule that names no trust admits what the organization says, and a waiting gate is asked again', async () => {
  const admin = await createPerson(api, { orgId: caller.orgId, slug: caller.slug })
  await demand(SCANNED)
  assert.equal((await requestAs(api, admin, 'GET', '')).body.data.default_trust, null)
  await upload(byKey, MAIN)
  assert.equal(await decide(), 'approved')
  assert.equal((await setDefault('verified', admin)).body.data.default_trust, 'verified')
  const gate = await open()
  assert.equal(gate.decision, 'pending')
  await setDefault('uploaded', admin)
  await drainQueue(api)
  assert.equal((await pollGate(api, gate)).body.data.decision, 'approved')
})

test('a default trust that is loosened counts for what is opened a day later', async () => {
  const admin = await createPerson(api, { orgId: caller.orgId, slug: caller.slug })
  await configureGate(api, caller, { policies: ['p'], allowRunCreator: false })
  isGated = true
  await demand(SCANNED)
  await setDefault('verified', admin)
  await upload(byKey, MAIN)
  const gate = await open()
  await setDefault('uploaded', admin)
  await drainQueue(api)
  assert.deepEqual([(await pollGate(api, gate)).body.data.decision, await decide()], ['pending', 'pending'])
  api.clock.advance(25 * 60 * 60_000)
  await upload(byKey, MAIN)
  assert.equal(await decide(), 'approved')
})

test('taking a loosened default trust back does not make who loosened it an approver', async () => {
  const admin = await createPerson(api, { orgId: caller.orgId, slug: caller.slug })
  await configureGate(api, caller, { allowRunCreator: false })
  await setDefault('verified', admin)
  const gate = await open()
  await setDefault('uploaded', admin)
  await setDefault('verified', admin)
  const fresh = { ...admin, cookie: await signIn(api, admin.userId) }
  const path = `/deployments/${gate.deployment_id}/approve`
  assertError(await requestAs(api, fresh, 'POST', path, {}), 409, 'change_author_refused')
})

test('409 operator_required for the default trust where changes wait for a second person', async () => {
  const admin = await createPerson(api, { orgId: caller.orgId, slug: caller.slug })
  await updateOrganizationRules(api.services, caller.slug, { two_person_changes: true })
  assertError(await setDefault('verified', admin), 409, 'operator_required')
})

test('the default trust is changed by people who may change policies, with a fresh sign-in', async () => {
  assertError(await setDefault('uploaded', developer), 403, 'insufficient_permission')
  const admin = await createPerson(api, { orgId: caller.orgId, slug: caller.slug })
  api.clock.advance(60 * 60_000)
  const stale = await requestAs(api, admin, 'PUT', '/default-trust', { default_trust: 'verified' })
  assert.equal(stale.status, 403, stale.text)
})

test('who lets API keys in again does not approve what waits', async () => {
  const admin = await createPerson(api, { orgId: caller.orgId, slug: caller.slug })
  await configureGate(api, caller, { allowRunCreator: false })
  await setDefault('verified', admin)
  const gate = await open()
  await setDefault('uploaded', admin)
  const fresh = { ...admin, cookie: await signIn(api, admin.userId) }
  const path = `/deployments/${gate.deployment_id}/approve`
  assertError(await requestAs(api, fresh, 'POST', path, {}), 409, 'change_author_refused')
})

/** The stored definitions as they were before rules could say what they admit. */
async function storeAsBefore(trust: 'any' | null): Promise<void> {
  await api.services.sql`
    update policy_versions
    set content_hash = sha256('before'), definition = jsonb_set(definition #- '{engine,rules,0,absent_evidence}', '{engine,rules,0,trust}',
      ${JSON.stringify(trust)}::text::jsonb)
    where org_id = ${caller.orgId}`
}

test('a rule stored before the upgrade admits what it did, whatever the organization says now', async () => {
  const admin = await createPerson(api, { orgId: caller.orgId, slug: caller.slug })
  await setDefault('verified', admin)
  await demand(SCANNED)
  await storeAsBefore(null)
  await upload(byKey, MAIN)
  assert.equal(await decide(), 'approved')
  await demand(`${SCANNED} && run.branch == "main"`)
  assert.equal(await decide(), 'pending')
})

test('a stored rule with trust: any admits hand uploads until its next version', async () => {
  await demand(SCANNED, 'trust: any')
  await storeAsBefore('any')
  await upload(byPerson, MAIN)
  assert.equal(await decide(), 'approved')
  await demand(SCANNED, 'trust: any')
  assert.equal(await decide(), 'pending')
})

test('a stored rule passes without any scan until its next version', async () => {
  await demand('findings.open.critical == 0')
  await storeAsBefore(null)
  assert.equal(await decide(), 'approved')
  await demand('findings.open.critical == 0')
  assert.equal(await decide(), 'pending')
})

const CLEAN = 'findings.open.critical == 0 && issues.open.critical == 0'

test('where nobody has scanned, a rule about findings is an error that says what to do', async () => {
  await demand(CLEAN)
  const gate = await open()
  assert.equal(gate.decision, 'pending')
  assert.match(gate.note, /evidence_missing: no security report .* was read for main.*Upload one/)
})

test('absent_evidence: pass lets a rule pass where nobody has scanned', async () => {
  await demand(CLEAN, 'absent_evidence: pass')
  assert.equal(await decide(), 'approved')
})

for (const [sender, [send, fields]] of Object.entries(SENDERS))
  test(`a report by ${sender} is evidence for the rules that admit it`, async () => {
    await demand(CLEAN, 'trust: uploaded')
    await upload(send(), fields)
    assert.equal(await decide(), SEEN.uploaded?.includes(sender) ? 'approved' : 'pending')
  })

test('a report of another branch is no evidence, whatever its commit', async () => {
  await demand(CLEAN)
  await upload(byToken({ ref: 'refs/heads/feature' }))
  assert.equal(await decide(), 'pending')
  assert.equal(await decide(await createRun({ ref: 'refs/heads/feature' })), 'approved')
})

test('evidence: commit asks for a report of the deployed commit, and tools for one of each', async () => {
  await demand(CLEAN, 'evidence: commit', 'trust: uploaded')
  await upload(byKey, { ...MAIN, commitSha: '1'.repeat(40) })
  assert.equal(await decide(), 'pending')
  await upload(byToken())
  assert.equal(await decide(), 'approved')
  await demand(CLEAN, 'tools: [linter, trivy]')
  const gate = await open()
  assert.match(gate.note, /trivy/)
  await upload(byToken(), {}, [], 'Trivy')
  assert.equal(await decide(), 'approved')
})

test('a rule that reads facts that were never imported is an error', async () => {
  await demand('findings.known_exploited == 0')
  await upload(byToken())
  const gate = await open()
  assert.match(gate.note, /no_data: .*KEV.*intel import/)
})

const UNFAILED = 'attestations.all(a, a.status != "fail")'
const FAILED = { ...TESTS, data: { ...TESTS.data, failed: 1 } }

test('with bad_news, what a weaker lane says against a rule counts, and what it says for it does not', async () => {
  const run = await createRun()
  await sendReport(api, caller, run.id, { attestations: [FAILED] })
  await demand(UNFAILED, 'trust: verified')
  assert.equal(await decide(run), 'approved')
  await demand(UNFAILED, 'trust: verified', 'bad_news: any')
  // Of another commit, because what is said about a commit counts in all of its runs.
  const sha = 'b'.repeat(40)
  assert.equal(await decide(await createRun({ sha }, { commit_sha: sha })), 'approved')
  const other = await createRun()
  await sendReport(api, caller, other.id, { attestations: [FAILED] })
  assert.equal(await decide(other), 'pending')
  await demand(TESTED, 'trust: verified', 'bad_news: any')
  const tested = await createRun()
  await sendReport(api, caller, tested.id, { attestations: [TESTS] })
  assert.equal(await decide(tested), 'pending')
})

test('bad_news adds the lanes it names, and no others', async () => {
  await demand('scans.all(s, s.trust == "verified")', 'trust: verified', 'bad_news: uploaded')
  await upload(byToken())
  await upload(byPerson, MAIN)
  assert.equal(await decide(), 'approved')
  await upload(byKey, MAIN)
  assert.equal(await decide(), 'pending')
})
