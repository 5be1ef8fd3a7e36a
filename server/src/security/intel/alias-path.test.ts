import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AliasAssertion, aliasPath } from './alias-groups.ts'

const asserted = (source: string, id: string, alias: string): AliasAssertion => ({ source, id, alias })

test('the path has every id and the source of each step, whatever the direction of the assertions', () => {
  const assertions = [asserted('osv', 'GHSA-1', 'CVE-1'), asserted('report', 'GHSA-1', 'GO-1')]
  assert.deepEqual(aliasPath(assertions, 'GO-1', 'CVE-1'), [
    { from: 'GO-1', to: 'GHSA-1', source: 'report' },
    { from: 'GHSA-1', to: 'CVE-1', source: 'osv' },
  ])
})

test('the shortest path is returned, whatever the order of the assertions', () => {
  const assertions = [
    asserted('osv', 'A', 'B'),
    asserted('osv', 'B', 'CVE-1'),
    asserted('osv', 'A', 'C'),
    asserted('osv', 'C', 'D'),
    asserted('osv', 'D', 'CVE-1'),
    asserted('osv', 'CVE-1', 'A2'),
    asserted('osv', 'A2', 'A'),
  ]
  const shortest = aliasPath(assertions, 'A', 'CVE-1')
  assert.deepEqual(shortest, [
    { from: 'A', to: 'A2', source: 'osv' },
    { from: 'A2', to: 'CVE-1', source: 'osv' },
  ])
  assert.deepEqual(aliasPath(assertions.toReversed(), 'A', 'CVE-1'), shortest)
})

test('the prefix of a distribution is a separate step', () => {
  assert.deepEqual(aliasPath([asserted('osv', 'CVE-2024-1000', 'GHSA-1')], 'DEBIAN-CVE-2024-1000', 'GHSA-1'), [
    { from: 'DEBIAN-CVE-2024-1000', to: 'CVE-2024-1000', source: 'name' },
    { from: 'CVE-2024-1000', to: 'GHSA-1', source: 'osv' },
  ])
})

test('the path from an id to itself is empty, and without assertions there is none', () => {
  assert.deepEqual(aliasPath([], 'CVE-1', 'CVE-1'), [])
  assert.equal(aliasPath([asserted('osv', 'A', 'B')], 'A', 'C'), null)
})
