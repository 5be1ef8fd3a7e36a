import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failuresIn, numberIn, slowestIn, textIn } from './attestation-data.ts'

test('failed tests of every shape that a job may send', () => {
  const failures = ['plain', { name: 'a', suite: 's', message: 'm' }, { title: 'b', stack: 'at b:1' }, null, 5, {}]
  assert.deepEqual(failuresIn({ failures }), [
    { name: 'plain', suite: null, message: null },
    { name: 'a', suite: 's', message: 'm' },
    { name: 'b', suite: null, message: 'at b:1' },
    { name: 'Test 4', suite: null, message: null },
    { name: 'Test 5', suite: null, message: null },
    { name: 'Test 6', suite: null, message: null },
  ])
})

test('a stack that repeats the message is shown once', () => {
  const [failure] = failuresIn({ failures: [{ name: 'a', message: 'boom', stack: 'Error: boom\n at x' }] })
  assert.equal(failure?.message, 'Error: boom\n at x')
  const [both] = failuresIn({ failures: [{ name: 'a', message: 'boom', stack: 'at x' }] })
  assert.equal(both?.message, 'boom\nat x')
})

test('what is no list has no failures, and what is no number or text is not shown', () => {
  assert.deepEqual(failuresIn({ failures: 'many' }), [])
  assert.deepEqual([numberIn({ n: '5' }, 'n'), numberIn({ n: -1 }, 'n'), numberIn({ n: 5 }, 'n')], [null, null, 5])
  assert.deepEqual([textIn({ t: 5 }, 't'), textIn({ t: ' ' }, 't'), textIn({ b: 'x' }, 'a', 'b')], [null, null, 'x'])
})

test('the five slowest tests, slowest first', () => {
  const slowest = [1, 9, 3, 4, 5, 6].map((durationSeconds) => ({ name: `t${durationSeconds}`, durationSeconds }))
  const found = slowestIn({ slowest: [...slowest, { name: 'no time' }, { durationSeconds: 99 }] })
  assert.deepEqual(
    found.map(({ name }) => name),
    ['t9', 't6', 't5', 't4', 't3'],
  )
})
