import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestApi, type TestApi } from '../../../support/api.ts'
import { createRun } from '../../../support/ci-runs.ts'
import { createPerson, requestAs } from '../../../support/people.ts'

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

const limitsOf = async (plan: string) => {
  const caller = await api.caller({ plan })
  const viewer = await createPerson(api, { ...caller, role: 'viewer' })
  await createRun(api, caller)
  await createRun(api, caller)
  return (await requestAs(api, viewer, 'GET', '/usage')).body.data
}

test('a plan with limits shows what was used this month, the limit, and when it resets', async () => {
  const { plan, limits } = await limitsOf('team')
  assert.equal(plan, 'team')
  const resets_at = '2026-04-01T00:00:00.000Z'
  assert.deepEqual(limits, [
    { name: 'ci_runs_per_month', used: 2, limit: 10_000, resets_at },
    { name: 'artifact_bytes_per_month', used: 0, limit: null, resets_at },
  ])
})

test('a plan without limits shows what was used, and null as the limit', async () => {
  const { limits, maximums, features, retention_days } = await limitsOf('enterprise')
  assert.deepEqual([limits[0].used, limits[0].limit], [2, null])
  assert.equal(maximums.security_uploads_per_commit, 100)
  assert.ok(features.includes('signed_statements'))
  assert.equal(retention_days, 1095)
})

test('what was used in an earlier month does not count', async () => {
  const caller = await api.caller({ plan: 'team' })
  await createRun(api, caller)
  api.clock.advance(28 * 86_400_000)
  const viewer = await createPerson(api, { ...caller, role: 'viewer' })
  const { limits } = (await requestAs(api, viewer, 'GET', '/usage')).body.data
  assert.deepEqual([limits[0].used, limits[0].resets_at], [0, '2026-05-01T00:00:00.000Z'])
})
