import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { BUILT_IN_PLANS } from '../../../../../src/organizations/plan.ts'
import { type Answer, type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError } from '../../../../support/assert-error.ts'
import { createRun, postRun } from '../../../../support/ci-runs.ts'
import { newRunClaims, ownRun, startTokenCaller } from '../../../../support/token-caller.ts'

const DAY_MS = 86_400_000

let api: TestApi
let beside: TestApi
let directory: string

/** Two servers on one database. The plan `tiny` includes three runs a month. */
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'shiplock-plans-'))
  const file = join(directory, 'plans.json')
  await writeFile(
    file,
    JSON.stringify([...BUILT_IN_PLANS, { ...BUILT_IN_PLANS[1], name: 'tiny', ci_runs_per_month_max: 3 }]),
  )
  const env = { SHIPLOCK_PLANS_FILE: file }
  api = await startTestApi({ env })
  beside = await startTestApi({ env, beside: api })
})
after(async () => {
  await beside?.close()
  await api?.close()
  await rm(directory, { recursive: true, force: true })
})

/** Copies a stored run until the key has created `count` runs today. */
async function seedRuns(
  { services: { sql } }: TestApi,
  { orgId, keyId }: Caller,
  id: string,
  count: number,
): Promise<void> {
  await sql`
    insert into ci_runs
    select (jsonb_populate_record(run, jsonb_build_object(
      'id', 'seeded_' || number, 'external_run_id', 'seeded_' || number, 'day_number', number
    ))).*
    from ci_runs run
    cross join generate_series(1, 2000) number
    where run.org_id = ${orgId}
      and run.id = ${id}
      and number <> run.day_number
    order by number
    limit ${count - 1}`
  const [row] = await sql`select count(*)::int as n from ci_runs where credential_id = ${keyId}`
  assert.equal(row?.n, count)
}

function countStatuses(answers: Answer[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

function race(caller: Caller, requests: number): Promise<Answer[]> {
  return Promise.all(Array.from({ length: requests }, (_, index) => postRun(index % 2 ? beside : api, caller)))
}

test('the limit of 2,000 new runs a day is exact when two servers compete for the last ten', async () => {
  const caller = await api.caller()
  const { id, external_run_id } = await createRun(beside, caller)
  await seedRuns(api, caller, id, 1990)
  const answers = await race(caller, 40)
  assert.deepEqual(countStatuses(answers), { 201: 10, 429: 30 })
  const midnight = new Date('2026-03-05T00:00:00.000Z')
  const seconds = Math.ceil((midnight.getTime() - api.clock.now().getTime()) / 1000)
  for (const answer of answers.filter(({ status }) => status === 429)) {
    const details = assertError(answer, 429, 'rate_limited')
    assert.deepEqual([details.limit, details.resetAt], [2000, midnight.toISOString()])
    assert.equal(answer.headers.get('retry-after'), String(seconds))
  }
  assert.equal((await postRun(api, caller, { external_run_id })).status, 200, 'a repeat counts nothing')
  assert.equal((await postRun(api, caller, { external_run_id, attempt: 2 })).status, 201, 'nor does an attempt')
  assert.equal((await postRun(api, await api.caller({ orgId: caller.orgId }))).status, 201, 'the limit is the key’s')
})

test('a server whose cached numbers another server has used still creates the last ten runs', async () => {
  const caller = await api.caller()
  const { id } = await createRun(beside, caller)
  await seedRuns(api, caller, id, 1990)
  const statuses: number[] = []
  for (let at = 0; at < 11; at += 1) statuses.push((await postRun(beside, caller)).status)
  assert.deepEqual(statuses, [...Array(10).fill(201), 429])
})

test('the limit starts again on the next UTC day', async () => {
  const night = await startTestApi()
  try {
    const caller = await night.caller()
    const untilMidnight = Date.parse('2026-03-05T00:00:00Z') - night.clock.now().getTime()
    night.clock.advance(untilMidnight - 1)
    const { id } = await createRun(night, caller)
    await seedRuns(night, caller, id, 2000)
    assertError(await postRun(night, caller), 429, 'rate_limited')
    night.clock.advance(1)
    assert.equal((await postRun(night, caller)).status, 201)
  } finally {
    await night.close()
  }
})

test('429 rate_limited beyond the monthly runs of the plan, exact under concurrency, until the next month', async () => {
  const caller = await api.caller({ plan: 'tiny' })
  const { external_run_id } = await createRun(api, caller)
  const answers = await race(caller, 12)
  assert.deepEqual(countStatuses(answers), { 201: 2, 429: 10 })
  const refused = answers.find(({ status }) => status === 429) as Answer
  const details = assertError(refused, 429, 'rate_limited')
  assert.deepEqual([details.limit, details.resetAt], [3, '2026-04-01T00:00:00.000Z'])
  assert.equal((await postRun(api, caller, { external_run_id })).status, 200)
  assert.equal((await postRun(api, caller, { external_run_id, attempt: 2 })).status, 201)
  const other = await api.caller({ orgId: caller.orgId })
  assertError(await postRun(api, other), 429, 'rate_limited')
})

test('runs of tokens count toward the monthly runs of the plan', async () => {
  const caller = await startTokenCaller(api, { plan: 'tiny' })
  for (let made = 0; made < 2; made += 1) await createRun(api, caller)
  const [claims, next] = [newRunClaims(), newRunClaims()]
  assert.equal((await caller.send('POST', '/v1/ci/runs', ownRun(claims), claims)).status, 201)
  assertError(await caller.send('POST', '/v1/ci/runs', ownRun(next), next), 429, 'rate_limited')
  assert.equal((await caller.send('POST', '/v1/ci/runs', ownRun(claims), claims)).status, 200)
  await caller.close()
})

test('the limit starts again in the next month', async () => {
  const spring = await startTestApi({ env: { SHIPLOCK_PLANS_FILE: join(directory, 'plans.json') } })
  try {
    const caller = await spring.caller({ plan: 'tiny' })
    for (let made = 0; made < 3; made += 1) await createRun(spring, caller)
    spring.clock.advance(26 * DAY_MS)
    assertError(await postRun(spring, caller), 429, 'rate_limited')
    spring.clock.advance(2 * DAY_MS)
    assert.equal((await postRun(spring, caller)).status, 201)
  } finally {
    await spring.close()
  }
})
