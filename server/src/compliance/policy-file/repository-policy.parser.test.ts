import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPolicyFile } from './repository-policy.parser.ts'

test('YAML and Rego files in the folders are policies, except tests and files of other kinds', () => {
  const policies = ['.shiplock/policies/a.yaml', '.shiplock/policies/a.yml', '.shiplock/policies/a.rego']
  for (const path of [...policies, '.prodgator/policies/a.rego']) assert.ok(isPolicyFile(path), path)
  const others = ['.prodgator/policies/a.yaml', '.shiplock/policies/a_test.rego', '.shiplock/policies/README.md']
  for (const path of [...others, 'policies/a.rego']) assert.ok(!isPolicyFile(path), path)
})
