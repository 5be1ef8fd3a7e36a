import assert from 'node:assert/strict'
import { test } from 'node:test'
import { collectCwes, isTooGeneral, listAncestors, toCweText } from './cwe.ts'

test('CWE ids are found in every form that tools write', () => {
  const forms = ['external/cwe/cwe-079', 'CWE-89: Improper Neutralization', 'cwe:22', 'CWE_502', 'CWE-79']
  assert.deepEqual(collectCwes(forms), ['CWE-79', 'CWE-89', 'CWE-22', 'CWE-502'])
  assert.deepEqual(collectCwes(['cwe', 'owasp', 'CWE-1234567']), [])
})

test('a bare number in a member for CWE ids is a CWE id', () => {
  assert.deepEqual([79, '79', 'CWE-79', 'https://cwe.mitre.org/data/definitions/79', null, {}].map(toCweText), [
    'CWE-79',
    'CWE-79',
    'CWE-79',
    'https://cwe.mitre.org/data/definitions/79',
    '',
    '',
  ])
})

test('classes, pillars, categories and views are too general', () => {
  for (const cwe of ['CWE-284', 'CWE-693', 'CWE-664', 'CWE-707', 'CWE-522', 'CWE-20', 'CWE-1000', 'CWE-310'])
    assert.equal(isTooGeneral(cwe), true, cwe)
})

test('bases, variants and unknown CWEs are not too general', () => {
  for (const cwe of ['CWE-78', 'CWE-89', 'CWE-95', 'CWE-798', 'CWE-99999']) assert.equal(isTooGeneral(cwe), false, cwe)
})

const RELATED: [a: string, b: string, isRelated: boolean, reason: string][] = [
  ['CWE-94', 'CWE-95', true, 'parent and child'],
  ['CWE-798', 'CWE-259', true, 'parent and child'],
  ['CWE-89', 'CWE-564', true, 'parent and child'],
  ['CWE-22', 'CWE-24', true, 'CWE-23 is between them'],
  ['CWE-259', 'CWE-321', false, 'siblings'],
  ['CWE-78', 'CWE-95', false, 'related only through the class CWE-74'],
  ['CWE-89', 'CWE-915', false, 'related only through a pillar'],
  ['CWE-77', 'CWE-78', false, 'CWE-77 is a class'],
  ['CWE-693', 'CWE-693', false, 'equal, but a pillar'],
  ['CWE-338', 'CWE-330', false, 'CWE-330 is a class'],
  ['CWE-99999', 'CWE-89', false, 'not in the catalog'],
]

for (const [a, b, isRelated, reason] of RELATED) {
  test(`one of ${a} and ${b} is above the other: ${isRelated}; ${reason}`, () => {
    assert.equal(listAncestors(a).includes(b) || listAncestors(b).includes(a), isRelated)
  })
}
