import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readMatrix } from './job-matrix.ts'

const READ: [sent: unknown, matrix: unknown][] = [
  [undefined, null],
  [null, null],
  ['null', null],
  ['', null],
  [' ', null],
  [
    { os: 'linux', node: 24 },
    { os: 'linux', node: 24 },
  ],
  ['{"os":"linux","node":24}', { os: 'linux', node: 24 }],
  [
    { include: [{ a: 1 }], deep: { b: null } },
    { include: [{ a: 1 }], deep: { b: null } },
  ],
  [['a', 'b'], { value: ['a', 'b'] }],
  ['["a","b"]', { value: ['a', 'b'] }],
  [3, { value: 3 }],
  ['3', { value: 3 }],
  [false, { value: false }],
  ['linux', { value: 'linux' }],
  ['{os: linux}', { value: '{os: linux}' }],
  ['{"a":"\\u0000"}', { a: '\ufffd' }],
]

for (const [sent, matrix] of READ) {
  test(`the matrix ${JSON.stringify(sent)} is ${JSON.stringify(matrix)}`, () => {
    assert.deepEqual(readMatrix(sent), matrix)
  })
}

const many = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`k${index}`, index]))
const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
const REFUSED: [why: string, sent: unknown, message: RegExp][] = [
  ['21 keys', many, /20 keys/],
  ['21 keys in a text', JSON.stringify(many), /20 keys/],
  ['a key of 101 characters', { ['x'.repeat(101)]: 1 }, /100 characters/],
  ['a text of 501 characters', { os: 'x'.repeat(501) }, /500 characters/],
  ['more than 16 KiB', { list: Array.from({ length: 20_000 }, () => 1) }, /16384 bytes/],
  ['a text with deep nesting', nested, /nested/],
]

for (const [why, sent, message] of REFUSED) {
  test(`400 invalid_request for a matrix with ${why}`, () => {
    assert.throws(() => readMatrix(sent), { status: 400, code: 'invalid_request', message })
  })
}
