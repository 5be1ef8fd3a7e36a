import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isInRange, parseVers } from './vers.ts'

const problemOf = (text: string) => {
  const parsed = parseVers(text)
  return 'problem' in parsed ? parsed.problem : null
}

function contains(text: string, version: string): boolean | null {
  const range = parseVers(text)
  assert.ok(!('problem' in range), text)
  return isInRange(range, version)
}

test('a canonical range contains the versions within its bounds', () => {
  const cases: [range: string, version: string, boolean | null][] = [
    ['vers:maven/>=2.13.0|<2.15.0', '2.14.1', true],
    ['vers:maven/>=2.13.0|<2.15.0', '2.13', true],
    ['vers:maven/>=2.13.0|<2.15.0', '2.15.0', false],
    ['vers:maven/>=2.13.0|<2.15.0', '2.15.0-rc1', true],
    ['vers:npm/1.0.0|>=2.0.0', '1.0.0', true],
    ['vers:npm/1.0.0|>=2.0.0', '1.5.0', false],
    ['vers:npm/1.0.0|>=2.0.0', '3.0.0', true],
    ['vers:npm/<1.0.0|>=2.0.0|!=2.1.0|<3.0.0', '0.1.0', true],
    ['vers:npm/<1.0.0|>=2.0.0|!=2.1.0|<3.0.0', '2.1.0', false],
    ['vers:npm/<1.0.0|>=2.0.0|!=2.1.0|<3.0.0', '2.1.1', true],
    ['vers:npm/!=1.0.0', '1.0.0', false],
    ['vers:npm/!=1.0.0', '2.0.0', true],
    ['vers:npm/*', 'latest', true],
    ['vers:npm/<1.0.0', 'latest', null],
    ['vers:deb/<1%3A2.0-1', '2.1', true],
    ['vers:pypi/<=1.0.0', '1.0', true],
  ]
  for (const [range, version, expected] of cases)
    assert.equal(contains(range, version), expected, `${range} ${version}`)
})

test('a range that is not canonical is refused with a reason', () => {
  const refuses = (text: string, reason: RegExp) => assert.match(problemOf(text) ?? 'none', reason, text)
  for (const text of ['', 'vers:npm', 'npm/>=1.0.0', 'vers:npm/>= 1.0.0', 'VERS:npm/1.0.0', 'vers:npm/1.0.0ä']) {
    refuses(text, /must look like/)
  }
  refuses('vers:conan/1.0.0', /scheme "conan" is not supported/)
  refuses('vers:npm/latest', /"latest" is not a version/)
  refuses('vers:npm/=1.0.0', /not a version/)
  refuses('vers:npm/1.0.0|', /"" is not a version/)
  refuses('vers:npm/%31.0.0', /not a version/)
  refuses('vers:npm/>=1.0.0|*', /not a version/)
  refuses('vers:npm/<2.0.0|>=1.0.0', /sorted: 1.0.0 comes before 2.0.0/)
  refuses('vers:npm/>=1.0.0|<1.0.0', /1.0.0 more than once/)
  refuses('vers:npm/<1.0.0|<2.0.0', /redundant/)
  refuses('vers:npm/>1.0.0|>2.0.0', /redundant/)
  refuses('vers:npm/1.0.0|<2.0.0', /redundant/)
  refuses('vers:npm/>1.0.0|2.0.0', /redundant/)
  refuses(`vers:npm/${Array.from({ length: 101 }, (_, at) => `${at}.0.0`).join('|')}`, /more than 100 constraints/)
  refuses(`vers:npm/${'1'.repeat(301)}`, /not a version/)
})

test('no text makes the parser throw, and what it accepts agrees with each constraint for itself', () => {
  const part = fc.tuple(fc.constantFrom('', '<', '<=', '>', '>=', '!='), fc.integer({ min: 0, max: 9 }))
  let accepted = 0
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), fc.integer({ min: 0, max: 9 }), (parts, asked) => {
      const range = parseVers(`vers:npm/${parts.map(([sign, at]) => `${sign}${at}.0.0`).join('|')}`)
      if ('problem' in range) return
      accepted += 1
      // Lower bounds and the upper bounds that follow them are intervals; equalities stand for themselves.
      const bounds = parts.filter(([sign]) => sign !== '' && sign !== '!=')
      const holds = ([sign, at]: [string, number]) =>
        ({ '<': asked < at, '<=': asked <= at, '>': asked > at, '>=': asked >= at })[sign] === true
      const isWithin = bounds.some((bound, at) => {
        const next = bounds[at + 1]
        if (bound[0].startsWith('<')) return at === 0 && holds(bound)
        return holds(bound) && (next === undefined || holds(next))
      })
      const isExcluded = parts.some(([sign, at]) => sign === '!=' && at === asked)
      const isNamed = parts.some(([sign, at]) => sign === '' && at === asked)
      const onlyExcludes = parts.every(([sign]) => sign === '!=')
      assert.equal(isInRange(range, `${asked}.0.0`), !isExcluded && (isNamed || isWithin || onlyExcludes))
    }),
    { seed: 38, numRuns: 5000 },
  )
  assert.ok(accepted > 200)
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      parseVers(text)
      parseVers(`vers:pypi/${text}`)
    }),
    { seed: 38 },
  )
})
