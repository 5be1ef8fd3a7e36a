import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ComplianceResult } from '../facts/vocabulary.ts'
import { matrixOf } from './result-matrix.ts'

const result = (repository: string, policy: string) =>
  ({ repository, policy_id: `id of ${policy}`, policy_name: policy }) as ComplianceResult

test('a row for each repository and a column for each policy, by name', () => {
  const results = [result('acme/web', 'scanned'), result('acme/api', 'tested'), result('acme/web', 'reviewed')]
  const { rows, columns } = matrixOf(results)
  assert.deepEqual(
    columns.map(({ name }) => name),
    ['reviewed', 'scanned', 'tested'],
  )
  assert.deepEqual(
    rows.map(({ repository, results: of }) => [repository, columns.map(({ id }) => of.get(id)?.policy_name ?? null)]),
    [
      ['acme/api', [null, null, 'tested']],
      ['acme/web', ['reviewed', 'scanned', null]],
    ],
  )
})
