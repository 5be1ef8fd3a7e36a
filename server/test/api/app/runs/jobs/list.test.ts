import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { listRunJobs } from '../../../../../src/ci/provider-runs/run-job.store.ts'
import type { HostSource } from '../../../../../src/codehosts/host-event.ts'
import type { HostJob } from '../../../../../src/codehosts/host-run.ts'
import { type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError, assertInvalid } from '../../../../support/assert-error.ts'
import { createRun } from '../../../../support/ci-runs.ts'
import { ON_ONE_SERVER } from '../../../../support/citus.ts'
import { hostRun, insertConnection } from '../../../../support/host-objects.ts'
import type { Json } from '../../../../support/json.ts'
import { createPerson, type Person, requestAs } from '../../../../support/people.ts'
import { applyRunEvents, applyRuns, hostJob, minutes } from '../../../../support/provider-runs.ts'
import { plansOf } from '../../../../support/query-plans.ts'
import { responseChecker } from '../../../../support/response-schema.ts'

const RUN = 'gh_run_9001'

let api: TestApi
let check: Awaited<ReturnType<typeof responseChecker>>

before(async () => {
  api = await startTestApi()
  check = await responseChecker(api, '/app/api')
})
after(() => api?.close())

type Connected = { caller: Caller; person: Person; source: HostSource }

/** An organization with a run of its code host. */
async function connected(): Promise<Connected> {
  const caller = await api.caller()
  const source = await insertConnection(api.services.sql, caller.orgId)
  await applyRuns(api.services, source, hostRun())
  return { caller, person: await createPerson(api, { ...caller, role: 'viewer' }), source }
}

function applyJobs(source: HostSource, ...jobs: Partial<HostJob>[]): Promise<void> {
  return applyRunEvents(
    api.services,
    source,
    jobs.map((fields) => ({ kind: 'job', data: hostJob(fields) })),
  )
}

async function jobsOf({ person }: Connected, attempt = 1): Promise<Json[]> {
  const { body, text } = await requestAs(api, person, 'GET', `/runs/${RUN}/jobs?attempt=${attempt}`)
  assert.ok(body.data, text)
  check('/app/api/orgs/{org}/runs/{id}/jobs', '200', body)
  return body.data
}

test('the jobs of an attempt with their times, in the order in which they started', async () => {
  const org = await connected()
  await applyJobs(
    org.source,
    { id: '3', name: 'deploy', status: 'queued', started_at: null },
    { id: '2', name: 'test', status: 'in_progress', started_at: minutes(3) },
    { id: '1', name: 'build', status: 'success', completed_at: minutes(3), html_url: 'https://github.com/acme/shop/1' },
    { id: '4', name: 'again', attempt: 2 },
  )
  const jobs = await jobsOf(org)
  assert.deepEqual(
    jobs.map(({ name, status, duration_seconds }) => [name, status, duration_seconds]),
    [
      ['build', 'success', 120],
      ['test', 'in_progress', null],
      ['deploy', 'queued', null],
    ],
  )
  assert.deepEqual(
    [jobs[0].html_url, jobs[0].started_at],
    ['https://github.com/acme/shop/1', '2026-03-01T10:01:00.000Z'],
  )
  assert.deepEqual(
    (await jobsOf(org, 2)).map(({ name }) => name),
    ['again'],
  )
})

test('an earlier state of a job that arrives late changes nothing', async () => {
  const org = await connected()
  await applyJobs(
    org.source,
    { status: 'failure', completed_at: minutes(4) },
    { status: 'in_progress' },
    { status: 'queued' },
  )
  const [job] = await jobsOf(org)
  assert.deepEqual([job.status, job.duration_seconds], ['failure', 180])
})

test('a job that ended before it started took no time', async () => {
  const org = await connected()
  await applyJobs(org.source, { status: 'cancelled', started_at: minutes(2), completed_at: minutes(1) })
  assert.equal((await jobsOf(org))[0].duration_seconds, 0)
})

test('a job that arrives before its run is shown with it', async () => {
  const org = await connected()
  const early = hostRun({ id: '9002' })
  await applyJobs(org.source, { run_id: '9002', status: 'queued' })
  await applyRuns(api.services, org.source, early)
  const { body } = await requestAs(api, org.person, 'GET', '/runs/gh_run_9002/jobs?attempt=1')
  assert.equal(body.data.length, 1)
})

test('a run that no code host reports has no jobs', async () => {
  const org = await connected()
  const run = await createRun(api, org.caller)
  const { body } = await requestAs(api, org.person, 'GET', `/runs/${run.id}/jobs?attempt=1`)
  assert.deepEqual(body.data, [])
})

test('the jobs of an attempt are read through an index', ON_ONE_SERVER, async () => {
  const org = await connected()
  const { sql } = api.services
  await sql`
    insert into provider_run_jobs (org_id, run_id, attempt, id, name, status, state)
    select ${org.caller.orgId}, 'gh_run_' || number / 5, 1, number::text, 'test', 'success', 2
    from generate_series(1, 5000) number`
  await sql`analyze provider_run_jobs`
  const nodes = await plansOf(api, async (reader) => {
    const key = { org_id: org.caller.orgId, run_id: 'gh_run_7' }
    assert.equal((await listRunJobs(reader, key, 1)).length, 5)
  })
  const reads = nodes.filter((node) => node['Relation Name'] === 'provider_run_jobs')
  assert.ok(reads.length > 0)
  for (const node of reads) assert.ok(node['Actual Rows'] * node['Actual Loops'] <= 5, JSON.stringify(node))
})

test('jobs are of one organization, of runs that exist, and of the newest attempt unless another is named', async () => {
  const [org, other] = [await connected(), await connected()]
  await applyJobs(org.source, {})
  assert.deepEqual(await jobsOf(other), [])
  assertError(await requestAs(api, org.person, 'GET', '/runs/nobody/jobs?attempt=1'), 404, 'not_found')
  assert.equal((await requestAs(api, org.person, 'GET', `/runs/${RUN}/jobs`)).body.data.length, 1)
  assertInvalid(await requestAs(api, org.person, 'GET', `/runs/${RUN}/jobs?attempt=0`), '/query/attempt')
})
