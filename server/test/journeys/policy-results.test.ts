import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import {
  evaluateDaily,
  evaluateRepository,
  evaluateRepositoryJob,
} from '../../src/compliance/results/evaluate-repository.job.ts'
import { jobs } from '../../src/jobs.ts'
import { publish } from '../../src/platform/queue/event.ts'
import { enqueue } from '../../src/platform/queue/job.ts'
import { intelImported } from '../../src/security/intel/import-source.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { postAttestations, sendReport, TESTS } from '../support/ci-reports.ts'
import { createRun, patchRun } from '../support/ci-runs.ts'
import type { Json } from '../support/json.ts'
import { apply } from '../support/policies.ts'
import { drainQueue, listJobs } from '../support/queue.ts'
import { uploadReport } from '../support/reports.ts'
import { link } from '../support/repositories.ts'
import { sarif, scoredResult } from '../support/sarif.ts'

const TESTS_PASSED = `
name: Tests passed
mode: enforce
bindings: { environments: ['*'] }
rules:
  - rule: tests
    expression: attestations.exists(a, a.kind == "test-results" && a.status == "pass")
    trust: any
    reason: No job has reported passing tests.`
const NO_CRITICAL = `
name: No critical finding
mode: monitor
bindings: { repositories: [acme/*] }
rules:
  - rule: scanned
    expression: scans.size() > 0
    blocking: false
  - rule: critical
    expression: findings.open.critical == 0 && issues.open.critical == 0`
const FAILED = { ...TESTS, data: { ...TESTS.data, failed: 1 } }

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
})

async function results(query = ''): Promise<Json[]> {
  await drainQueue(api)
  const { body } = await api.request('GET', `/v1/compliance/results${query}`, { key: caller.key })
  return body.data
}

async function statuses(): Promise<Record<string, string>> {
  const rows = await results()
  return Object.fromEntries(rows.map(({ policy_name, repository, status }) => [`${policy_name} ${repository}`, status]))
}

test('applying a policy evaluates every repository known from runs, links or reports', async () => {
  await createRun(api, caller, { repository: 'github.com/acme/api' })
  await link(api, caller, { provider: 'github', id: '2', name: 'acme/web' })
  await apply(api, caller, TESTS_PASSED)
  assert.deepEqual(await statuses(), {
    'Tests passed github.com/acme/api': 'not_evaluated',
    'Tests passed github.com/acme/web': 'not_evaluated',
  })
})

test('a stored report updates the result, with the verdict and evidence of the rule', async () => {
  await apply(api, caller, TESTS_PASSED)
  const run = await createRun(api, caller)
  const report = await sendReport(api, caller, run.id, { attestations: [FAILED] })
  const [failing] = await results()
  assert.equal(failing.status, 'failing')
  assert.deepEqual(failing.details, [
    {
      rule: 'tests',
      result: 'fail',
      evidence: 'No job has reported passing tests. · attestations = test-results unit fail',
    },
  ])
  api.clock.advance(1000)
  await postAttestations(api, caller, report, [TESTS])
  const [passing] = await results('?status=passing')
  assert.equal(passing.id, failing.id)
  assert.equal(passing.created_at, failing.created_at)
  assert.deepEqual(passing.details, [
    { rule: 'tests', result: 'pass', evidence: 'attestations = test-results unit pass' },
  ])
  assert.notEqual(passing.evaluated_at, failing.evaluated_at)
})

test('a run that ended without a report is evaluated, and an open one is not', async () => {
  await apply(api, caller, TESTS_PASSED)
  const first = await createRun(api, caller)
  await sendReport(api, caller, first.id, { attestations: [TESTS] })
  api.clock.advance(1000)
  const second = await createRun(api, caller, { commit_sha: 'b'.repeat(40) })
  assert.deepEqual(Object.values(await statuses()), ['passing'])
  await patchRun(api, caller, second.id, { status: 'failure' })
  assert.deepEqual(Object.values(await statuses()), ['failing'])
})

test('runs of pull requests and of untracked branches are not evaluated', async () => {
  await link(api, caller, { provider: 'github', id: '1', name: 'acme/api' })
  await apply(api, caller, TESTS_PASSED)
  const good = await createRun(api, caller, { ref: 'refs/heads/main' })
  await sendReport(api, caller, good.id, { attestations: [TESTS] })
  for (const fields of [{ event: 'pull_request', ref: 'main' }, { ref: 'refs/heads/topic' }, { ref: 'refs/tags/v1' }]) {
    api.clock.advance(1000)
    const run = await createRun(api, caller, fields)
    await sendReport(api, caller, run.id, { attestations: [FAILED] })
  }
  assert.deepEqual(Object.values(await statuses()), ['passing'])
})

test('a security report updates the result; a rule that is not blocking only warns', async () => {
  await apply(api, caller, NO_CRITICAL)
  await createRun(api, caller, { repository: 'github.com/acme/api', ref: 'main' })
  await uploadReport(api, caller, sarif([scoredResult('a', 9.8)]), { repository: 'acme/api' })
  assert.deepEqual(await statuses(), { 'No critical finding github.com/acme/api': 'failing' })
  api.clock.advance(1000)
  await uploadReport(api, caller, sarif([]), { repository: 'acme/api' })
  assert.deepEqual(await statuses(), { 'No critical finding github.com/acme/api': 'passing' })
})

test('a repository known only from security reports is evaluated under its name in them', async () => {
  await apply(api, caller, NO_CRITICAL)
  await uploadReport(api, caller, sarif([scoredResult('a', 5)]), { repository: 'acme/only' })
  assert.deepEqual(await statuses(), { 'No critical finding acme/only': 'passing' })
})

test('a new version of a policy is evaluated, and repositories that it no longer covers lose their result', async () => {
  const run = await createRun(api, caller)
  await sendReport(api, caller, run.id, { attestations: [FAILED] })
  await apply(api, caller, TESTS_PASSED)
  assert.deepEqual(Object.values(await statuses()), ['failing'])
  api.clock.advance(1000)
  await apply(api, caller, TESTS_PASSED.replace('a.status == "pass"', 'true'))
  assert.deepEqual(Object.values(await statuses()), ['passing'])
  await apply(api, caller, TESTS_PASSED.replace("environments: ['*']", "repositories: ['other/*']"))
  assert.deepEqual(await results(), [])
})

test('a repository known by its name alone has no second result once a run names its host', async () => {
  await apply(api, caller, NO_CRITICAL)
  await uploadReport(api, caller, sarif([]), { repository: 'Acme/api' })
  await uploadReport(api, caller, sarif([]), { repository: 'acme/web' })
  const policy = 'No critical finding'
  assert.deepEqual(Object.keys(await statuses()).sort(), [`${policy} Acme/api`, `${policy} acme/web`])
  const { id } = await createRun(api, caller)
  await patchRun(api, caller, id, { status: 'success' })
  assert.deepEqual(Object.keys(await statuses()).sort(), [`${policy} acme/web`, `${policy} github.com/acme/api`])
})

test('a policy without bindings has no results', async () => {
  await createRun(api, caller)
  await apply(api, caller, TESTS_PASSED.replace(/bindings.*\n/, ''))
  assert.deepEqual(await results(), [])
})

test('the daily evaluation notices expired evidence', async () => {
  await apply(api, caller, TESTS_PASSED.replace('trust: any', 'trust: any\n    max_age: 7d'))
  const run = await createRun(api, caller)
  await sendReport(api, caller, run.id, { attestations: [TESTS] })
  assert.deepEqual(Object.values(await statuses()), ['passing'])
  api.clock.advance(7 * 86_400_000 + 1)
  await evaluateDaily.run(api.services, {})
  assert.deepEqual(Object.values(await statuses()), ['failing'])
})

test('importing intelligence evaluates the repositories of every organization with policies', async () => {
  await apply(api, caller, TESTS_PASSED)
  const run = await createRun(api, caller)
  await sendReport(api, caller, run.id, { attestations: [TESTS] })
  const [before] = await results()
  api.clock.advance(1000)
  await publish(api.services.sql, intelImported, { source: 'kev' })
  const [later] = await results()
  assert.ok(later.evaluated_at > before.evaluated_at)
})

test('events of one repository cause one evaluation while it waits', async () => {
  const { sql } = api.services
  const payload = { org_id: caller.orgId, repository: 'github.com/acme/api' }
  await Promise.all(Array.from({ length: 8 }, () => enqueue(sql, evaluateRepositoryJob, payload)))
  await enqueue(sql, evaluateRepositoryJob, { ...payload, repository: 'github.com/acme/web' })
  const queued = await listJobs(sql, evaluateRepositoryJob.name)
  assert.equal(queued.filter(({ key }) => key?.includes(caller.orgId)).length, 2)
  await drainQueue(api)
})

test('simultaneous evaluations leave one result for each policy and repository', async () => {
  await apply(api, caller, TESTS_PASSED)
  await apply(api, caller, NO_CRITICAL)
  const run = await createRun(api, caller)
  await sendReport(api, caller, run.id, { attestations: [TESTS] })
  await Promise.all(
    Array.from({ length: 6 }, () => evaluateRepository(api.services, caller.orgId, 'github.com/acme/api')),
  )
  assert.equal((await results()).length, 2)
})

test('a stored policy that cannot be read is failing, and the evidence states what to do', async () => {
  await createRun(api, caller)
  const { id } = await apply(api, caller, TESTS_PASSED)
  await api.services.sql`
    update policy_versions
    set definition = '{"engine": "abacus"}'
    where org_id = ${caller.orgId}
      and policy_id = ${id}`
  const [result] = await results()
  assert.deepEqual(result.details, [
    { rule: 'policy', result: 'error', evidence: 'The stored policy cannot be read; apply its file again' },
  ])
  assert.equal(result.status, 'failing')
})

test('every event has a subscription in the list of jobs', () => {
  const names = jobs.map(({ name }) => name)
  for (const name of ['report.changed', 'run.finished', 'upload.finished', 'security.intel.imported'])
    assert.ok(names.includes(`event ${name}`), name)
})
