import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BUILT_IN_PLANS, DEFAULT_PLAN, type Plan, selectSmallestPlan } from './plan.ts'

const MIB = 2 ** 20
const GIB = 2 ** 30
const PLANS = new Map(BUILT_IN_PLANS.map((plan) => [plan.name, plan]))

/** The table of decisions §3, a line a row. */
const TABLE: [row: string, cell: (plan: Plan) => unknown, cells: unknown[]][] = [
  ['API access', (plan) => plan.features.includes('api_access'), [false, true, true, true]],
  ['security uploads', (plan) => plan.features.includes('security_uploads'), [false, true, true, true]],
  ['unique issues', (plan) => plan.features.includes('unique_issues'), [false, false, true, true]],
  ['signed statements', (plan) => plan.features.includes('signed_statements'), [false, false, false, true]],
  ['data retention, days', (plan) => plan.retention_days, [30, 90, 365, 1095]],
  ['largest security report', (plan) => plan.security_report_bytes_max, [0, 50 * MIB, 200 * MIB, GIB]],
  ['security uploads per commit', (plan) => plan.security_uploads_per_commit_max, [0, 10, 25, 100]],
  ['largest artifact', (plan) => plan.artifact_bytes_max, [0, 100 * MIB, 500 * MIB, 2 * GIB]],
  ['artifact bytes per run', (plan) => plan.artifact_bytes_per_run_max, [0, 500 * MIB, 2 * GIB, 10 * GIB]],
  ['CI runs per month', (plan) => plan.ci_runs_per_month_max, [0, 10_000, 100_000, null]],
]

test('the plans are free, team, business and enterprise, from the smallest on', () => {
  assert.deepEqual([...PLANS.keys()], ['free', 'team', 'business', 'enterprise'])
})

for (const [row, cell, cells] of TABLE) {
  test(`the plans' ${row}`, () => assert.deepEqual(BUILT_IN_PLANS.map(cell), cells))
}

test("a self-hoster's organization is enterprise unless told otherwise", () => {
  assert.equal(DEFAULT_PLAN, 'enterprise')
})

test('the required plan is the smallest that has the feature', () => {
  assert.equal(selectSmallestPlan(PLANS, 'api_access'), 'team')
  assert.equal(selectSmallestPlan(PLANS, 'security_uploads'), 'team')
  assert.equal(selectSmallestPlan(PLANS, 'unique_issues'), 'business')
  assert.equal(selectSmallestPlan(PLANS, 'signed_statements'), 'enterprise')
  assert.equal(selectSmallestPlan(new Map(), 'api_access'), null)
})
