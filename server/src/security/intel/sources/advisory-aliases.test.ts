import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aliasesOf } from './advisory-aliases.ts'

test('aliases are the ids that the record lists, without its own', () => {
  assert.deepEqual(aliasesOf('GO-2024-1', { aliases: ['GHSA-x', 'GO-2024-1', 'CVE-2024-1000', 7, ''] }), [
    'CVE-2024-1000',
    'GHSA-x',
  ])
})

test("a distribution's entry is the only CVE that it is made from, and none of several", () => {
  assert.deepEqual(aliasesOf('DEBIAN-CVE-2024-1000', { upstream: ['CVE-2024-1000'] }), ['CVE-2024-1000'])
  assert.deepEqual(aliasesOf('CGA-1', { upstream: ['GHSA-x', 'CVE-2024-1000'] }), ['CVE-2024-1000'])
  assert.deepEqual(aliasesOf('DSA-1', { upstream: ['CVE-2024-1000', 'CVE-2024-1001'] }), [])
})

test('what is only related is no alias, and a long list is a collection', () => {
  assert.deepEqual(aliasesOf('GHSA-x', { related: ['CVE-2024-1000'] }), [])
  assert.deepEqual(aliasesOf('A-1', { aliases: Array.from({ length: 51 }, (_, at) => `CVE-2024-${1000 + at}`) }), [])
})
