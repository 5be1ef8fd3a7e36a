import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Claims } from '../claims.ts'
import { type Conditions, checkConditions, matchConditions, toConditions } from './conditions.ts'

const CASES: [holds: boolean, Conditions, Claims][] = [
  [true, { repository_id: '7' }, { repository_id: 7 }],
  [true, { ref_protected: 'true' }, { ref_protected: true }],
  [true, { groups: 'acme/*' }, { groups: ['other/x', 'acme/platform'] }],
  [true, { a: ['1', '2'] }, { a: '2' }],
  [true, { a: '1', b: '2' }, { a: '1', b: '2', c: '3' }],
  [false, { a: '1', b: '2' }, { a: '1', b: '3' }],
  [false, { a: '1' }, {}],
  [false, { a: '**' }, { a: null }],
  [false, { a: '**' }, { a: '' }],
  [false, { a: '**' }, { a: {} }],
  [false, { a: '**' }, { a: [] }],
  [false, { a: '**' }, { a: [['x']] }],
  [false, { toString: '**' } as unknown as Conditions, {}],
  // Beyond 2^53, JSON.parse makes two ids one.
  [false, { id: '9007199254740992' }, { id: 2 ** 53 }],
]

for (const [holds, conditions, claims] of CASES) {
  test(`${JSON.stringify(conditions)} ${holds ? 'holds' : 'does not hold'} for ${JSON.stringify(claims)}`, () => {
    assert.equal(matchConditions(toConditions(conditions), claims), holds)
    const every = checkConditions(conditions, claims).every(({ matches }) => matches)
    assert.equal(every, holds)
  })
}
