import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readVerdicts } from './read-verdicts.ts'

test('a list of rules is read with its defaults: it blocks, and is named by its id', () => {
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
  ['no list', true],
  ['an empty list', []],
  ['more rules than are read', Array.from({ length: 101 }, () => ({ rule: 'a', status: 'pass' }))],
  ['no status', [{ rule: 'a', status: 'pass' }, { rule: 'b' }]],
  ['a status that there is not', [{ rule: 'a', status: 'ok' }]],
  ['no rule', [{ status: 'pass' }]],
  ['blocking that is no boolean', [{ rule: 'a', status: 'fail', blocking: 'no' }]],
  ['an item that is null', [null]],
]

for (const [what, result] of UNREADABLE) {
  test(`${what} is an error that blocks, whatever the other rules say`, () => {
    const [verdict, ...others] = readVerdicts(result)
    assert.deepEqual([verdict?.status, verdict?.blocking, others], ['error', true, []])
    assert.ok(verdict?.reason)
  })
}
