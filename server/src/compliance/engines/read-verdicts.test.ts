import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readVerdicts } from './read-verdicts.ts'

test('by default, a rule is blocking and its id is its name', () => {
  const result = [
    { rule: 'a', status: 'pass', reason: 'not shown' },
    { rule: 'b', name: 'B', status: 'fail', blocking: false, reason: 'why', evidence: { open: 2 } },
  ]
  assert.deepEqual(readVerdicts(result), [
    { rule: 'a', name: 'a', status: 'pass', blocking: true, reason: null, evidence: null },
    { rule: 'b', name: 'B', status: 'fail', blocking: false, reason: 'why', evidence: '{"open":2}' },
  ])
})

const UNREADABLE: [what: string, result: unknown][] = [
  ['an undefined decision', undefined],
  ['not a list', true],
  ['an empty list', []],
  ['too many rules', Array.from({ length: 101 }, () => ({ rule: 'a', status: 'pass' }))],
  ['no status', [{ rule: 'a', status: 'pass' }, { rule: 'b' }]],
  ['an unknown status', [{ rule: 'a', status: 'ok' }]],
  ['no rule id', [{ status: 'pass' }]],
  ['blocking that is not a boolean', [{ rule: 'a', status: 'fail', blocking: 'no' }]],
  ['an item that is null', [null]],
]

for (const [what, result] of UNREADABLE) {
  test(`${what} is one blocking error in place of all rules`, () => {
    const [verdict, ...others] = readVerdicts(result)
    assert.deepEqual([verdict?.status, verdict?.blocking, others], ['error', true, []])
    assert.ok(verdict?.reason)
  })
}
