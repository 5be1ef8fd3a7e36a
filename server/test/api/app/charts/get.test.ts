import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { DAY_MS, HOUR_MS } from '../../../../src/platform/clock.ts'
import { refreshAllDays, refreshIssueDays, refreshNewestDays } from '../../../../src/trends/refresh-days.job.ts'
import { type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { assertError } from '../../../support/assert-error.ts'
import { MERGE, pushedRecord } from '../../../support/change-records.ts'
import { createRun, patchRun } from '../../../support/ci-runs.ts'
import type { Json } from '../../../support/json.ts'
import { createPerson, type Person, requestAs } from '../../../support/people.ts'
import { drainQueue } from '../../../support/queue.ts'
import { uploadReport } from '../../../support/reports.ts'
import { sarif, sarifResult } from '../../../support/sarif.ts'
import { storeChange } from '../../../support/stored-changes.ts'

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

async function organization(): Promise<{ caller: Caller; viewer: Person }> {
  const caller = await api.caller()
  return { caller, viewer: await createPerson(api, { ...caller, role: 'viewer' }) }
}

async function chart(viewer: Person, path: string): Promise<Json> {
  const answer = await requestAs(api, viewer, 'GET', `/charts/${path}`)
  assert.equal(answer.status, 200, answer.text)
  return answer.body.data
}

/** Moves the creation of a run into the past. */
async function ageRun(id: string, days: number): Promise<void> {
  const createdAt = new Date(api.clock.now().getTime() - days * DAY_MS)
  await api.services.sql`update ci_runs set created_at = ${createdAt} where id = ${id}`
}

test('runs are counted by day and status, with every day of the chart', async () => {
  const { caller, viewer } = await organization()
  for (const [index, status] of ['success', 'success', 'failure', 'cancelled'].entries()) {
    const { id } = await createRun(api, caller, { external_run_id: `${index}` })
    await patchRun(api, caller, id, { status })
    if (index > 0) await ageRun(id, 2)
  }
  const { days, runs, success_rate } = await chart(viewer, 'runs?days=3')
  assert.deepEqual(
    days.map((day: Json) => [day.date, day.runs, day.success, day.failure, day.cancelled]),
    [
      ['2026-03-02', 3, 1, 1, 1],
      ['2026-03-03', 0, 0, 0, 0],
      ['2026-03-04', 1, 1, 0, 0],
    ],
  )
  assert.deepEqual([runs, success_rate], [4, 2 / 3])
})

test('the figures of settled days are the same whether or not the job has counted them', async () => {
  const { caller, viewer } = await organization()
  for (const [index, age] of [0, 1, 3, 4, 5, 10, 40].entries()) {
    const { id } = await createRun(api, caller, { external_run_id: `${index}` })
    await ageRun(id, age)
  }
  const before = await chart(viewer, 'runs?days=60')
  await refreshNewestDays.run(api.services, undefined as never)
  assert.deepEqual(await chart(viewer, 'runs?days=60'), before)
  assert.equal(before.runs, 7)
  await api.services.sql`delete from run_days where org_id = ${caller.orgId}`
  assert.equal((await chart(viewer, 'runs?days=60')).runs, 4, 'old days come from the counted ones')
})

test('a run that is overdue counts as timed out, and an old one that arrives late is counted later', async () => {
  const { caller, viewer } = await organization()
  const late = await createRun(api, caller, { timeout_minutes: 5, external_run_id: 'overdue' })
  await api.services.sql`
    update ci_runs
    set deadline_at = created_at
    where id = ${late.id}`
  assert.equal((await chart(viewer, 'runs?days=1')).days[0].timed_out, 1)
  await refreshNewestDays.run(api.services, undefined as never)
  await ageRun((await createRun(api, caller, { external_run_id: 'late' })).id, 50)
  await refreshNewestDays.run(api.services, undefined as never)
  assert.equal((await chart(viewer, 'runs?days=60')).runs, 1)
  await refreshAllDays.run(api.services, undefined as never)
  assert.equal((await chart(viewer, 'runs?days=60')).runs, 2)
})

test('the chart of runs can be limited to a repository', async () => {
  const { caller, viewer } = await organization()
  await createRun(api, caller, { external_run_id: '1', repository: 'github.com/acme/one' })
  await createRun(api, caller, { external_run_id: '2', repository: 'github.com/acme/two' })
  await ageRun((await createRun(api, caller, { external_run_id: '3', repository: 'github.com/acme/one' })).id, 20)
  await refreshNewestDays.run(api.services, undefined as never)
  assert.equal((await chart(viewer, 'runs?repository=acme/one')).runs, 2)
  assert.equal((await chart(viewer, 'runs?repository=acme/none')).runs, 0)
})

type NewDeployment = { id: string; status: string; createdAt: Date; deployedAt?: Date; rollbackAt?: Date; sha?: string }

async function deploy(orgId: string, fields: NewDeployment & { environment?: string }): Promise<void> {
  const {
    id,
    status,
    createdAt,
    deployedAt = null,
    rollbackAt = null,
    sha = MERGE,
    environment = 'production',
  } = fields
  await api.services.sql`
    insert into deployments (
      org_id, id, provider, repository, repository_full_name, repository_id, host, host_id, host_updated_at,
      environment, status, attempt, commit_sha, gated, deployed_at, rollback_at, created_at, updated_at
    )
    values (
      ${orgId}, ${id}, 'github', 'api', 'acme/api', '1', 'github.com', ${id}, ${createdAt}, ${environment}, ${status}, 1,
      ${sha}, false, ${deployedAt}, ${rollbackAt}, ${createdAt}, ${createdAt}
    )`
}

const at = (hours: number) => new Date(api.clock.now().getTime() + hours * HOUR_MS)

test('the figures of delivery are the same whether or not the job has counted them', async () => {
  const { caller, viewer } = await organization()
  const { orgId } = caller
  await deploy(orgId, { id: 'd1', status: 'failure', createdAt: at(-100) })
  await deploy(orgId, { id: 'd2', status: 'success', createdAt: at(-99), deployedAt: at(-98) })
  await deploy(orgId, { id: 'd3', status: 'success', createdAt: at(-2), deployedAt: at(-1) })
  const before = await chart(viewer, 'delivery')
  assert.deepEqual([before.deployments, before.restore_seconds], [3, 7200])
  await refreshNewestDays.run(api.services, undefined as never)
  assert.deepEqual(await chart(viewer, 'delivery'), before)
  await api.services.sql`delete from delivery_days where org_id = ${orgId}`
  assert.equal((await chart(viewer, 'delivery')).deployments, 1, 'old days come from the counted ones')
})

test('what is stated to be production counts on all days, and the name where nothing is stated', async () => {
  const { caller, viewer } = await organization()
  const { orgId } = caller
  const places = ['prod', 'prod-mirror-2', 'main-site']
  for (const [number, environment] of places.entries())
    for (const hours of [-50, -2])
      await deploy(orgId, {
        id: `${environment}${hours}-${number}`,
        status: 'failure',
        createdAt: at(hours),
        environment,
      })
  await api.services.sql`update organizations set production_rule_since = ${at(-3)} where id = ${orgId}`
  const shown = async () => {
    const { environments, deployments, earlier_rule } = await chart(viewer, 'delivery?days=4')
    return [environments, deployments, earlier_rule.environments]
  }
  assert.deepEqual(await shown(), [['prod'], 3, ['prod', 'prod-mirror-2']])
  const manager = await createPerson(api, { ...caller, role: 'release_manager' })
  const state = (body: object) => requestAs(api, manager, 'POST', '/environments', body)
  await state({ environment: 'main-*', exposure: 'internet', production: true })
  await state({ environment: 'prod', repository: 'acme/a*', production: false })
  assert.deepEqual(await shown(), [['main-site'], 3, ['main-site', 'prod-mirror-2']])
  await refreshNewestDays.run(api.services, undefined as never)
  assert.deepEqual((await shown())[1], 3, 'counted days, too')
  await state({ environment: 'prod', repository: 'acme/a*', production: null, criticality: 1 })
  assert.deepEqual((await shown())[1], 5)
})

test('production is a matter of the name; days before the rule keep the rule that they were shown by', async () => {
  const { caller, viewer } = await organization()
  const { orgId } = caller
  for (const [id, environment, hours] of [
    ['old-pre', 'pre-prod', -50],
    ['old-prd', 'prd', -50],
    ['new-pre', 'pre-prod', -2],
    ['new-prd', 'prd', -2],
  ] as const)
    await deploy(orgId, { id, status: 'failure', createdAt: at(hours), environment })
  const { environments, deployments, earlier_rule } = await chart(viewer, 'delivery?days=4')
  assert.deepEqual([environments, deployments, earlier_rule], [['prd'], 2, undefined])
  await api.services.sql`update organizations set production_rule_since = ${at(-3)} where id = ${orgId}`
  const upgraded = await chart(viewer, 'delivery?days=4')
  const until = at(-3).toISOString().slice(0, 10)
  assert.deepEqual(upgraded.earlier_rule, { until, environments: ['pre-prod'] })
  assert.deepEqual([upgraded.environments, upgraded.deployments], [['prd'], 2])
  await api.services
    .sql`update deployments set status = 'approved' where org_id = ${orgId} and id in ('old-pre', 'new-prd')`
  assert.equal((await chart(viewer, 'delivery?days=4')).deployments, 0)
})

test('delivery has the four metrics of DORA', async () => {
  const { caller, viewer } = await organization()
  const { orgId } = caller
  await deploy(orgId, { id: 'd1', status: 'success', createdAt: at(-50), deployedAt: at(-48), sha: 'c'.repeat(40) })
  await deploy(orgId, { id: 'd2', status: 'failure', createdAt: at(-29) })
  await deploy(orgId, { id: 'd3', status: 'failure', createdAt: at(-28) })
  await deploy(orgId, { id: 'd4', status: 'success', createdAt: at(-27), deployedAt: at(-26), sha: 'c'.repeat(40) })
  await deploy(orgId, { id: 'd5', status: 'rolled_back', createdAt: at(-3), deployedAt: at(-2), rollbackAt: at(-1) })
  await deploy(orgId, { id: 'd6', status: 'failure', createdAt: at(-1), environment: 'staging' })
  const data = await chart(viewer, 'delivery?days=4')
  assert.deepEqual(data.environments, ['production'])
  assert.deepEqual([data.deployments, data.failed_deployments, data.change_failure_rate], [5, 3, 0.6])
  assert.equal(data.deployments_per_day, 0.5)
  // From the first failure to the next success (3 h), and from the deployment to its rollback (1 h).
  assert.equal(data.restore_seconds, (3 * 3600 + 3600) / 2)
  assert.equal(data.lead_time_seconds, 3600, 'the median of 2 h, 1 h and 1 h')
  assert.deepEqual(
    data.days.map((day: Json) => [day.date, day.deployments, day.failed_deployments]),
    [
      ['2026-03-01', 0, 0],
      ['2026-03-02', 1, 0],
      ['2026-03-03', 3, 2],
      ['2026-03-04', 1, 1],
    ],
  )
  assert.equal((await chart(viewer, 'delivery?environment=staging')).deployments, 1)
  assert.equal((await chart(viewer, 'delivery?repository=acme/other')).deployments, 0)
})

test('the lead time starts when a change lands, and ends with the first deployment that contains it', async () => {
  const { caller, viewer } = await organization()
  const { repository } = await storeChange(api.services, caller, pushedRecord())
  await api.services.sql`
    update changes
    set created_at = ${at(-10)}
    where org_id = ${caller.orgId}`
  for (const [id, sha, landedAt] of [
    ['chg_first', 'd'.repeat(40), at(-20)],
    ['chg_second', 'e'.repeat(40), at(-14)],
  ] as const)
    await landBefore(caller, { id, sha, landedAt })
  const deployments = [
    { id: 'd1', createdAt: at(-20), deployedAt: at(-19), sha: 'd'.repeat(40) },
    { id: 'd2', createdAt: at(-9), deployedAt: at(-8) },
    { id: 'd3', createdAt: at(-3), deployedAt: at(-2) },
  ]
  for (const deployment of deployments) await deploy(caller.orgId, { ...deployment, status: 'success' })
  await api.services.sql`
    update deployments
    set repository_id = ${repository.id}
    where org_id = ${caller.orgId}`
  // 1 h for the first change, 6 h for the second, 2 h for the third, and nothing for the repeated deployment.
  assert.equal((await chart(viewer, 'delivery')).lead_time_seconds, 2 * 3600)
})

/** Copies the stored change to an earlier one of the same branch. */
async function landBefore({ orgId }: Caller, change: { id: string; sha: string; landedAt: Date }): Promise<void> {
  const { id, sha, landedAt } = change
  const { sql } = api.services
  await sql`
    insert into changes (
      org_id, id, provider, repository_id, branch, landed_by, push_id, merge_sha, link_index, last_index, deviations,
      created_at, recorded_at
    )
    select org_id, ${id}, provider, repository_id, branch, landed_by, ${id}, ${sha}, 1000, 1000, deviations, ${landedAt}, recorded_at
    from changes
    where org_id = ${orgId}
      and merge_sha = ${MERGE}`
  await sql`
    insert into change_commits (org_id, provider, repository_id, sha, change_id)
    select org_id, provider, repository_id, merge_sha, id
    from changes
    where org_id = ${orgId}
      and id = ${id}`
}

test('a chart without deployments has null in place of a rate', async () => {
  const { viewer } = await organization()
  const { days, environments, ...all } = await chart(viewer, 'delivery?days=2')
  assert.deepEqual(environments, [])
  assert.equal(days.length, 2)
  const { previous, ...totals } = all
  const nothing = {
    deployments: 0,
    failed_deployments: 0,
    lead_time_seconds: null,
    restore_seconds: null,
    deployments_per_day: 0,
    change_failure_rate: null,
  }
  assert.deepEqual(totals, nothing)
  assert.deepEqual(previous, nothing)
})

test('the days before are compared, whether or not the job has counted them', async () => {
  const { caller, viewer } = await organization()
  for (const [index, age] of [0, 2, 3, 4, 5, 6].entries()) {
    const { id } = await createRun(api, caller, { external_run_id: `compared-${index}` })
    await patchRun(api, caller, id, { status: index % 2 === 0 ? 'success' : 'failure' })
    await ageRun(id, age)
  }
  const before = await chart(viewer, 'runs?days=3')
  assert.deepEqual([before.runs, before.success_rate], [2, 1 / 2])
  assert.deepEqual(before.previous, { runs: 3, success_rate: 2 / 3 })
  await refreshNewestDays.run(api.services, undefined as never)
  assert.deepEqual(await chart(viewer, 'runs?days=3'), before)
})

test('issues are counted after a report, and a day without a count has the one before', async () => {
  const { caller, viewer } = await organization()
  const { sql, clock } = api.services
  await uploadReport(api, caller, sarif([sarifResult('one'), sarifResult('two')]))
  await drainQueue(api)
  const today = (await chart(viewer, 'issues?days=1')).days[0]
  assert.equal(today.open.medium, 2)
  assert.equal(today.median_age_seconds, 0)
  await sql`
    update issue_days
    set day = day - 2
    where org_id = ${caller.orgId}`
  const { days, counted_at } = await chart(viewer, 'issues?days=2')
  assert.deepEqual(
    days.map(({ open, median_age_seconds }: Json) => [open.medium, median_age_seconds]),
    [
      [2, null],
      [2, null],
    ],
  )
  assert.equal(counted_at, clock.now().toISOString())
})

test('the hourly count has the median age of the open issues', async () => {
  const { caller, viewer } = await organization()
  await uploadReport(api, caller, sarif([sarifResult('one')]))
  const createdAt = new Date(api.clock.now().getTime() - DAY_MS)
  await api.services.sql`update security_issues set created_at = ${createdAt} where org_id = ${caller.orgId}`
  await refreshIssueDays.run(api.services, undefined as never)
  assert.equal((await chart(viewer, 'issues?days=1')).days[0].median_age_seconds, DAY_MS / 1000)
})

test('400 invalid_request for a number of days out of range, and 402 for issues in a plan without them', async () => {
  const { viewer } = await organization()
  for (const days of ['0', '367', '1.5', 'x']) {
    assertError(await requestAs(api, viewer, 'GET', `/charts/runs?days=${days}`), 400, 'invalid_request')
  }
  const small = await createPerson(api, await api.caller({ plan: 'team' }))
  assertError(await requestAs(api, small, 'GET', '/charts/issues'), 402, 'plan_required')
  assert.equal((await requestAs(api, small, 'GET', '/charts/runs')).status, 200)
})

test('a chart shows nothing of another organization', async () => {
  const { caller } = await organization()
  await createRun(api, caller)
  await deploy(caller.orgId, { id: 'd1', status: 'success', createdAt: at(-1), deployedAt: at(0) })
  const { viewer } = await organization()
  assert.equal((await chart(viewer, 'runs')).runs, 0)
  assert.equal((await chart(viewer, 'delivery')).deployments, 0)
})
