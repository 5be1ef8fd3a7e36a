import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cwesIn, cweText } from './cwe.ts'

test('CWE ids are found in every form that tools write', () => {
  const forms = ['external/cwe/cwe-079', 'CWE-89: Improper Neutralization', 'cwe:22', 'CWE_502', 'CWE-79']
  assert.deepEqual(cwesIn(forms), ['CWE-79', 'CWE-89', 'CWE-22', 'CWE-502'])
  assert.deepEqual(cwesIn(['cwe', 'owasp', 'CWE-1234567']), [])
})

test('a bare number in a member for CWE ids is a CWE id', () => {
  assert.deepEqual([79, '79', 'CWE-79', 'https://cwe.mitre.org/data/definitions/79', null, {}].map(cweText), [
    'CWE-79',
    'CWE-79',
    'CWE-79',
    'https://cwe.mitre.org/data/definitions/79',
    '',
    '',
  ])
})
