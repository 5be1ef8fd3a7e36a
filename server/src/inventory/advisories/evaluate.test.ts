import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { VersionOrderName } from '../versions/version-orders.ts'
import type { AffectedPackage, AffectedRange, RangeEvent } from './affected.ts'
import { evaluateVersion, selectFixedVersion, type Verdict } from './evaluate.ts'

const affected = (fields: Partial<AffectedPackage>): AffectedPackage => ({
  ecosystem: 'npm',
  release: '',
  package_key: 'lodash',
  name: 'lodash',
  ranges: [],
  versions: [],
  urgency: null,
  informational: null,
  is_truncated: false,
  ...fields,
})
const range = (events: RangeEvent[], type = 'ECOSYSTEM'): AffectedRange => ({ type, events })
/** `introduced 1.0, fixed 2.0` */
const events = (text: string): RangeEvent[] =>
  text.split(', ').map((event) => {
    const [kind = '', version = ''] = event.split(' ')
    return { [kind]: version }
  })

type Case = [order: VersionOrderName, version: string, what: string, Verdict]

const RANGES: readonly Case[] = [
  ['npm', '1.9.9', 'introduced 0, fixed 2.0.0', 'affected'],
  ['npm', '2.0.0', 'introduced 0, fixed 2.0.0', 'unaffected'],
  ['npm', '2.0.0-rc.1', 'introduced 0, fixed 2.0.0', 'affected'],
  ['npm', '0.9.0', 'introduced 1.0.0, fixed 2.0.0', 'unaffected'],
  ['npm', '1.0.0', 'introduced 1.0.0, fixed 2.0.0', 'affected'],
  ['npm', '2.0.0', 'introduced 0, last_affected 2.0.0', 'affected'],
  ['npm', '2.0.1', 'introduced 0, last_affected 2.0.0', 'unaffected'],
  // Events have no order in the record.
  ['npm', '3.5.0', 'fixed 4.0.0, fixed 2.0.0, introduced 3.0.0, introduced 0', 'affected'],
  ['npm', '2.5.0', 'fixed 4.0.0, fixed 2.0.0, introduced 3.0.0, introduced 0', 'unaffected'],
  // Of one version, introduced comes first, so that the end of it counts.
  ['npm', '2.0.0', 'fixed 2.0.0, introduced 2.0.0', 'unaffected'],
  ['npm', '2.0.0', 'last_affected 2.0.0, introduced 2.0.0', 'affected'],
  ['npm', '2.0.1', 'last_affected 2.0.0, introduced 2.0.0', 'unaffected'],
  ['npm', '2.0.0', 'fixed 2.0.0, last_affected 2.0.0, introduced 0', 'unaffected'],
  ['npm', '5.0.0', 'introduced 0, limit 4.0.0', 'unaffected'],
  ['npm', '3.0.0', 'introduced 0, limit 4.0.0', 'affected'],
  ['npm', '5.0.0', 'introduced 0, limit *', 'affected'],
  ['npm', '5.0.0', 'introduced 0, limit 4.0.0, limit 6.0.0', 'affected'],
  ['npm', '1.0.0', 'fixed 2.0.0', 'unaffected'],
  ['npm', '1.0.0', 'last_affected 2.0.0', 'unaffected'],
  // No order is needed where all versions are affected; one is needed elsewhere.
  ['npm', 'latest', 'introduced 0', 'affected'],
  ['npm', 'latest', 'introduced 0, fixed 2.0.0', 'unknown_version'],
  ['npm', 'latest', 'fixed 2.0.0', 'unaffected'],
  ['npm', '1.0.0', 'introduced 0, fixed a-commit', 'unknown_version'],
  ['actions', 'v4', 'introduced 0, fixed 4.1.0', 'unknown_version'],
  ['pep440', '2.0+cu118', 'introduced 0, last_affected 2.0', 'affected'],
  ['pep440', '2.0+cu118', 'introduced 0, fixed 2.0', 'unaffected'],
  ['pep440', '2.0+cu118', 'introduced 0, last_affected 2.0+cu117', 'unaffected'],
  ['pep440', '2.0.post1', 'introduced 0, last_affected 2.0', 'unaffected'],
  ['dpkg', '1.0-1+deb12u1', 'introduced 0, fixed 1.0-1+deb12u2', 'affected'],
  ['go', 'go1.21rc2', 'introduced 1.21.0-0, fixed 1.21.0-rc.3', 'affected'],
]

test('ranges are evaluated as the OSV schema says', () => {
  for (const [order, version, what, verdict] of RANGES) {
    assert.equal(evaluateVersion(version, order, [affected({ ranges: [range(events(what))] })]), verdict, what)
  }
})

test('listed versions are equal by the order of the ecosystem, or by text', () => {
  const says = (order: VersionOrderName, version: string, listed: string, verdict: Verdict) =>
    assert.equal(evaluateVersion(version, order, [affected({ versions: ['0.1', listed] })]), verdict, version)
  says('pep440', '1.0', '1.0.0', 'affected')
  says('pep440', '2.0+cu118', '2.0', 'affected')
  says('pep440', '2.0', '2.0+cu118', 'unaffected')
  says('pep440', 'trunk', 'trunk', 'affected')
  says('actions', 'v4', 'v4', 'affected')
  says('actions', 'v4', 'v4.0.0', 'unaffected')
  says('npm', '1.0.1', '1.0.0', 'unaffected')
})

test('commits, unknown types and packages that Debian does not count affect nothing', () => {
  const all = events('introduced 0')
  const of = (fields: Partial<AffectedPackage>) => evaluateVersion('1.0', 'dpkg', [affected(fields)])
  assert.equal(of({ ranges: [range(all, 'GIT')] }), 'unaffected')
  assert.equal(of({ ranges: [range(all, 'CALENDAR')] }), 'unaffected')
  assert.equal(of({ ranges: [range(all, 'GIT'), range(all)] }), 'affected')
  assert.equal(of({ ranges: [range(all)], urgency: 'unimportant' }), 'unaffected')
  assert.equal(of({ versions: ['1.0'], urgency: 'not-affected' }), 'unaffected')
  assert.equal(of({ ranges: [range(all)], urgency: 'low' }), 'affected')
  assert.equal(of({}), 'unaffected')
})

test('what is not kept in full says of no version that it is unaffected', () => {
  const of = (version: string) =>
    evaluateVersion(version, 'npm', [affected({ versions: ['1.0.0'], is_truncated: true })])
  assert.deepEqual([of('1.0.0'), of('1.0.1')], ['affected', 'unknown_version'])
})

test('a SEMVER range has that order in every ecosystem', () => {
  const packages = [affected({ ranges: [range(events('introduced 0, fixed 1.0.0'), 'SEMVER')] })]
  assert.equal(evaluateVersion('1.0.0-1', 'dpkg', packages), 'affected')
  assert.equal(evaluateVersion('1.0.0-1', 'npm', packages), 'affected')
})

test('the fixed version is the smallest that nothing says is affected', () => {
  const fixOf = (version: string, ...ranges: string[]) =>
    selectFixedVersion(version, 'npm', {
      packages: ranges.map((text) => affected({ ranges: [range(events(text))] })),
      hints: [],
    })
  assert.equal(fixOf('1.0.0', 'introduced 0, fixed 1.2.0'), '1.2.0')
  assert.equal(fixOf('1.0.0', 'introduced 0, fixed 1.2.0', 'introduced 0, fixed 1.3.0'), '1.3.0')
  assert.equal(fixOf('1.0.0', 'introduced 0, fixed 1.2.0', 'introduced 1.2.0, fixed 1.10.0'), '1.10.0')
  assert.equal(fixOf('1.0.0', 'introduced 0, fixed 0.9.0, introduced 1.0.0'), null)
  assert.equal(fixOf('1.0.0', 'introduced 0, fixed 1.2.0', 'introduced 0'), null)
  assert.equal(fixOf('3.0.0', 'introduced 0, fixed 1.2.0, introduced 2.0.0, fixed 3.1.0'), '3.1.0')
  assert.equal(fixOf('latest', 'introduced 0, fixed 1.2.0'), null)
})

/** The versions of a small world, in their order; the world before all of them is `0`. */
const WORLD = ['0.1.0', '1.0.0-rc.1', '1.0.0', '1.0.1', '1.10.0', '2.0.0', '10.0.0']
const kinds = fc.constantFrom('introduced', 'fixed', 'last_affected', 'limit')
const worldEvent = fc.tuple(kinds, fc.constantFrom('0', '*', ...WORLD))
const worldPackage = fc.record({
  versions: fc.subarray(WORLD, { maxLength: 2 }),
  ranges: fc.array(
    fc.record({
      type: fc.constantFrom('SEMVER', 'ECOSYSTEM', 'GIT', 'OTHER'),
      events: fc.array(worldEvent, { maxLength: 6 }),
    }),
    { maxLength: 3 },
  ),
})
type WorldPackage = { versions: string[]; ranges: { type: string; events: [string, string][] }[] }

/**
 * A second evaluation: it walks over all versions of the world from the first, and knows at each
 * whether it is affected, without comparing any.
 */
function walk(version: string, { versions, ranges }: WorldPackage): boolean {
  if (versions.includes(version)) return true
  return ranges.some((stated) => {
    if (!['SEMVER', 'ECOSYSTEM'].includes(stated.type)) return false
    const at = (kind: string, place: string) => stated.events.some((event) => event[0] === kind && event[1] === place)
    if (!stated.events.some(([kind]) => kind === 'introduced')) return false
    let isOpen = at('introduced', '0')
    let isWithinLimit = true
    let endsNext = false
    const limits = stated.events.filter(([kind, place]) => kind === 'limit' && place !== '*').map(([, place]) => place)
    for (const place of WORLD) {
      if (endsNext) isOpen = false
      endsNext = at('last_affected', place)
      if (at('introduced', place)) isOpen = true
      if (at('fixed', place)) isOpen = false
      const later = WORLD.slice(WORLD.indexOf(place) + 1)
      isWithinLimit = limits.length === 0 || limits.some((limit) => later.includes(limit))
      if (place === version) return isOpen && isWithinLimit
    }
    return false
  })
}

test('a second evaluation that walks over a small world agrees', () => {
  const seen = { affected: 0, unaffected: 0 }
  fc.assert(
    fc.property(fc.array(worldPackage, { maxLength: 3 }), fc.constantFrom(...WORLD), (packages, version) => {
      // Only `limit` may be `*`, and only `introduced` may be `0`: a record with others is not in order.
      const valid = packages.map(({ versions, ranges }) => ({
        versions,
        ranges: ranges.map((stated) => ({
          ...stated,
          events: (stated.events as [string, string][]).filter(
            ([kind, place]) => (place !== '*' || kind === 'limit') && (place !== '0' || kind === 'introduced'),
          ),
        })),
      }))
      const expected = valid.some((one) => walk(version, one)) ? 'affected' : 'unaffected'
      const records = valid.map(({ versions, ranges }) =>
        affected({
          versions,
          ranges: ranges.map((stated) =>
            range(
              stated.events.map(([kind, place]) => ({ [kind]: place })),
              stated.type,
            ),
          ),
        }),
      )
      seen[expected] += 1
      assert.equal(evaluateVersion(version, 'npm', records), expected)
    }),
    { seed: 38, numRuns: 5000 },
  )
  assert.ok(seen.affected > 500 && seen.unaffected > 500, 'the worlds have both')
})
