import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { findNewestRuns } from '../../src/ci/evidence/newest-runs.store.ts'
import { RunPages } from '../../src/ci/pipeline-runs/run-pages.ts'
import { listOpenProviderRuns } from '../../src/ci/provider-runs/provider-run.store.ts'
import { settleOverdueRuns } from '../../src/ci/runs/settle-overdue-runs.job.ts'
import { filterEvidence } from '../../src/compliance/policies/evidence-view.ts'
import { readPolicyInputs } from '../../src/compliance/policies/read-policy-input.ts'
import type { Page } from '../../src/platform/http/lists.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { attemptInput, TESTS } from '../support/ci-reports.ts'
import { createRun } from '../support/ci-runs.ts'
import { ON_ONE_SERVER } from '../support/citus.ts'
import { hostRepository, hostRun, insertConnection } from '../support/host-objects.ts'
import { applyRuns, completedRun } from '../support/provider-runs.ts'
import { plansOf } from '../support/query-plans.ts'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
  caller = await api.caller()
  const source = await insertConnection(api.services.sql, caller.orgId)
  await applyRuns(
    api.services,
    source,
    completedRun(),
    hostRun({ id: '9002', event: 'pull_request_target', kind: 'pull_request' }),
    hostRun({ id: '9003' }),
    completedRun({ id: '9004', event: 'merge_request_event', kind: 'pull_request' }),
  )
})
after(() => api?.close())

test('a run of a code host is verified evidence, with its host as the CI system', async () => {
  const body = { job: {}, attestations: [TESTS] }
  const report = await api.request('POST', '/v1/ci/runs/gh_run_9001/reports', { key: caller.key, body })
  assert.equal(report.status, 201)
  const now = api.clock.now()
  const key = { org_id: caller.orgId, run_id: 'gh_run_9001', attempt: 1 }
  const evidence = await attemptInput(api.services.sql, key, now)
  assert.deepEqual(
    [evidence.run?.ci_system, evidence.run?.trust, evidence.run?.status],
    ['github', 'verified', 'success'],
  )
  assert.deepEqual(
    evidence.attempts.map(({ trust }) => trust),
    ['verified'],
  )
  assert.deepEqual(
    evidence.reports.map(({ trust }) => trust),
    ['self_reported'],
  )
  assert.deepEqual(
    evidence.attestations.map(({ trust }) => trust),
    ['self_reported'],
  )
})

test('a strict rule sees the verified run and its attempts, and not what an API key reported', async () => {
  const subject = {
    ...{ org_id: caller.orgId, repository: 'github.com/acme/shop', branch: 'main' },
    ...{ run: { id: 'gh_run_9001', attempt: 1 }, deployment: null, environment: null },
  }
  const { inputs } = await readPolicyInputs(api.services.sql, subject, api.clock.now())('commit')
  const [input] = inputs
  const strict = filterEvidence(input, { trust: null, max_age_ms: null })
  assert.deepEqual([strict.run?.trust, strict.attempts.length], ['verified', 1])
  assert.deepEqual([strict.reports, strict.attestations], [[], []])
})

test('runs of pull requests are no evidence of the repository, whatever their event is called', async () => {
  const runs = await findNewestRuns(api.services.sql, caller.orgId, 'github.com/acme/shop', api.clock.now())
  assert.deepEqual(
    runs.map(({ id }) => id),
    ['gh_run_9001'],
  )
})

test('open runs of a repository are listed for the synchronization, newest first', async () => {
  const list = (id: string, limit = 10) =>
    listOpenProviderRuns(api.services.sql, caller.orgId, { provider: 'github', id }, limit)
  assert.deepEqual(await list(hostRepository().id), ['9003', '9002'])
  assert.deepEqual([await list('2'), await list(hostRepository().id, 1)], [[], ['9003']])
})

test('the job that settles overdue runs leaves open runs of code hosts alone', async () => {
  await settleOverdueRuns.run(api.services, {})
  const { body } = await api.request('GET', '/v1/runs/gh_run_9003', { key: caller.key })
  assert.equal(body.data.status, 'in_progress')
})

test('new runs of an API key and runs of a code host do not count against each other', async () => {
  await createRun(api, caller, { ci_system: 'github', external_run_id: '9001' })
  const { body } = await api.request('GET', '/v1/runs/gh_run_9001', { key: caller.key })
  assert.deepEqual([body.data.trust, body.data.status], ['verified', 'success'])
})

test(
  'a list of runs is read from its index and by its keys; self-reported runs read nothing else',
  ON_ONE_SERVER,
  async () => {
    const { sql } = api.services
    const reporter = await api.caller()
    const { id } = await createRun(api, reporter)
    await sql`
    insert into ci_runs
    select (jsonb_populate_record(
      run,
      jsonb_build_object('id', 'run_' || n, 'external_run_id', 'n' || n, 'day_number', (n % 2000) + 1,
        'day', run.day - n / 2000 - 1, 'created_at', run.created_at - n * interval '1 minute')
    )).*
    from ci_runs run, generate_series(1, 5000) n
    where run.org_id = ${reporter.orgId} and run.id = ${id}`
    await sql`analyze ci_runs`
    const now = api.clock.now()
    const page = { since: new Date(0), until: now, limit: 50, asked: [null, null], after: null } as Page
    const nodes = await plansOf(api, (db) => new RunPages().list(db, reporter.orgId, page, { now }))
    const executed = nodes.filter((node) => node['Actual Loops'] > 0 && node['Relation Name'] !== undefined)
    assert.deepEqual(
      executed.map((node) => [node['Relation Name'], node['Index Name'], node['Actual Rows']]),
      [
        ['ci_runs', 'ci_runs_by_creation', 51],
        ['ci_runs', 'ci_runs_pkey', 51],
      ],
    )
  },
)
