import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AliasAssertion, aliasPath } from './alias-path.ts'

const said = (source: string, id: string, alias: string): AliasAssertion => ({ source, id, alias })

test('the way names every id on it and who says each step, in whichever direction it was said', () => {
  const assertions = [said('osv', 'GHSA-1', 'CVE-1'), said('report', 'GHSA-1', 'GO-1')]
  assert.deepEqual(aliasPath(assertions, 'GO-1', 'CVE-1'), [
    { from: 'GO-1', to: 'GHSA-1', source: 'report' },
    { from: 'GHSA-1', to: 'CVE-1', source: 'osv' },
  ])
})

test('of several ways the shortest, whatever the order in which they are known', () => {
  const assertions = [
    said('osv', 'A', 'B'),
    said('osv', 'B', 'CVE-1'),
    said('osv', 'A', 'C'),
    said('osv', 'C', 'D'),
    said('osv', 'D', 'CVE-1'),
    said('osv', 'CVE-1', 'A2'),
    said('osv', 'A2', 'A'),
  ]
  const shortest = aliasPath(assertions, 'A', 'CVE-1')
  assert.deepEqual(shortest, [
    { from: 'A', to: 'A2', source: 'osv' },
    { from: 'A2', to: 'CVE-1', source: 'osv' },
  ])
  assert.deepEqual(aliasPath(assertions.toReversed(), 'A', 'CVE-1'), shortest)
})

test("a distribution's name before a CVE id is a step of its own", () => {
  assert.deepEqual(aliasPath([said('osv', 'CVE-2024-1000', 'GHSA-1')], 'DEBIAN-CVE-2024-1000', 'GHSA-1'), [
    { from: 'DEBIAN-CVE-2024-1000', to: 'CVE-2024-1000', source: 'name' },
    { from: 'CVE-2024-1000', to: 'GHSA-1', source: 'osv' },
  ])
})

test('there is no step from an id to itself, and no way where nobody says so', () => {
  assert.deepEqual(aliasPath([], 'CVE-1', 'CVE-1'), [])
  assert.equal(aliasPath([said('osv', 'A', 'B')], 'A', 'C'), null)
})
