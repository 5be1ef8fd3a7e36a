import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type AliasAssertion, AliasGroups, compareCanonical, findAliasPath } from './aliases.ts'

function groupsOf(pairs: readonly (readonly [string, string])[]): Map<string, string> {
  const groups = new AliasGroups()
  for (const [one, other] of pairs) groups.join(one, other)
  return new Map([...groups.entries()].sort())
}

test('the canonical id is a CVE id, else a GHSA id, else the first id by its bytes', () => {
  const ids = ['PYSEC-2024-1', 'GHSA-zzzz-zzzz-zzzz', 'CVE-2024-1000', 'A-1', 'CVE-2023-9999']
  assert.deepEqual(ids.sort(compareCanonical), [
    'CVE-2023-9999',
    'CVE-2024-1000',
    'GHSA-zzzz-zzzz-zzzz',
    'A-1',
    'PYSEC-2024-1',
  ])
})

test('ids are joined through others, and unconnected groups stay apart', () => {
  const groups = groupsOf([
    ['GO-1', 'GHSA-1'],
    ['GHSA-1', 'CVE-1'],
    ['GO-2', 'GHSA-2'],
  ])
  assert.deepEqual(Object.fromEntries(groups), {
    'CVE-1': 'CVE-1',
    'GHSA-1': 'CVE-1',
    'GHSA-2': 'GHSA-2',
    'GO-1': 'CVE-1',
    'GO-2': 'GHSA-2',
  })
})

const ids = fc.constantFrom('CVE-1', 'CVE-2', 'CVE-3', 'GHSA-1', 'GHSA-2', 'GHSA-3', 'GO-1', 'GO-2', 'GO-3', 'A-1')
const pairs = fc.array(fc.tuple(ids, ids).filter(([one, other]) => one !== other))

test('the order of the assertions changes no group', () => {
  fc.assert(
    fc.property(
      pairs.chain((some) => fc.tuple(fc.constant(some), fc.shuffledSubarray(some, { minLength: some.length }))),
      ([some, shuffled]) => assert.deepEqual(groupsOf(shuffled), groupsOf(some)),
    ),
  )
})

test('two ids are in one group if and only if assertions connect them', () => {
  fc.assert(
    fc.property(pairs, (some) => {
      const groups = groupsOf(some)
      for (const [id, canonical] of groups) {
        const reached = reachableFrom(id, some)
        assert.equal(canonical, [...reached].sort(compareCanonical)[0])
        for (const other of groups.keys()) assert.equal(groups.get(other) === canonical, reached.has(other))
      }
    }),
  )
})

function reachableFrom(id: string, some: [string, string][]): Set<string> {
  const reached = new Set([id])
  for (let size = 0; size < reached.size; ) {
    size = reached.size
    for (const [one, other] of some) if (reached.has(one) || reached.has(other)) reached.add(one).add(other)
  }
  return reached
}

const asserted = (source: string, id: string, alias: string): AliasAssertion => ({ source, id, alias })

test('the path has every id and the source of each step, whatever the direction of the assertions', () => {
  const assertions = [asserted('osv', 'GHSA-1', 'CVE-1'), asserted('report', 'GHSA-1', 'GO-1')]
  assert.deepEqual(findAliasPath(assertions, 'GO-1', 'CVE-1'), [
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
  const shortest = findAliasPath(assertions, 'A', 'CVE-1')
  assert.deepEqual(shortest, [
    { from: 'A', to: 'A2', source: 'osv' },
    { from: 'A2', to: 'CVE-1', source: 'osv' },
  ])
  assert.deepEqual(findAliasPath(assertions.toReversed(), 'A', 'CVE-1'), shortest)
})

test('the prefix of a distribution is a separate step', () => {
  assert.deepEqual(findAliasPath([asserted('osv', 'CVE-2024-1000', 'GHSA-1')], 'DEBIAN-CVE-2024-1000', 'GHSA-1'), [
    { from: 'DEBIAN-CVE-2024-1000', to: 'CVE-2024-1000', source: 'name' },
    { from: 'CVE-2024-1000', to: 'GHSA-1', source: 'osv' },
  ])
})

test('the path from an id to itself is empty, and without assertions there is none', () => {
  assert.deepEqual(findAliasPath([], 'CVE-1', 'CVE-1'), [])
  assert.equal(findAliasPath([asserted('osv', 'A', 'B')], 'A', 'C'), null)
})
