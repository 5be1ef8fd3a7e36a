import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PromotedDeployment, PromotionPath } from './lineage-steps.ts'
import { lineageSteps } from './lineage-steps.ts'

const deployment = (fields: Partial<PromotedDeployment> = {}): PromotedDeployment => ({
  id: 'd1',
  environment: 'production',
  status: 'success',
  run: { id: 'r1', attempt: 1 },
  gates: [],
  approvals: [],
  override: null,
  bypass: null,
  created_at: '2026-01-31T12:00:00.000Z',
  deployed_at: null,
  ...fields,
})
const path = (fields: Partial<PromotionPath> = {}): PromotionPath => ({
  repository: { full_name: 'acme/shop' },
  commit: 'a'.repeat(40),
  change: null,
  runs: [{ id: 'r1', pipeline_name: 'CI', attempts: [{ number: 2, status: 'success' }] }],
  artifacts: [],
  artifacts_omitted: 0,
  earlier_deployments: [],
  deployment: deployment(),
  ...fields,
})
const edgesOf = (given: PromotionPath) => lineageSteps(given).edges.map(({ from, to }) => `${from} > ${to}`)

test('a commit leads by its run to the deployment', () => {
  assert.deepEqual(edgesOf(path()), ['commit > run r1', 'run r1 > deployment d1'])
  assert.deepEqual(edgesOf(path({ runs: [], deployment: deployment({ run: null }) })), ['commit > deployment d1'])
})

test('artifacts, earlier environments and gates stand between', () => {
  const gates = [
    { id: 'g1', name: 'Production', approved_at: '2026-01-31T12:00:00.000Z', approved_by: 'principals' as const },
  ]
  const edges = edgesOf(
    path({
      artifacts: [{ path: 'dist/app.tgz', sha256: 'b'.repeat(64) }],
      earlier_deployments: [deployment({ id: 'd0', environment: 'staging' })],
      deployment: deployment({ gates }),
    }),
  )
  assert.deepEqual(edges, [
    'commit > run r1',
    'run r1 > artifact dist/app.tgz',
    'run r1 > deployment d0',
    'artifact dist/app.tgz > gate g1',
    'deployment d0 > gate g1',
    'gate g1 > deployment d1',
  ])
})

test('many artifacts are one node after the first ones', () => {
  const artifacts = Array.from({ length: 50 }, (_, index) => ({ path: `file-${index}`, sha256: 'b'.repeat(64) }))
  const { steps } = lineageSteps(path({ artifacts, artifacts_omitted: 1000 }))
  assert.deepEqual(steps.filter(({ id }) => id.startsWith('artifact')).length, 6)
  assert.ok(steps.some(({ label }) => label === '1045 more artifacts'))
})
