import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseWaitSeconds, splitRounds } from './poll-gate.ts'

const CASES: [header: string | undefined, seconds: number | null][] = [
  [undefined, null],
  ['', null],
  ['respond-async', null],
  ['wait=20', 20],
  ['wait=0', 0],
  ['Wait = 7', 7],
  ['wait="7"', 7],
  ['respond-async, wait=7; foo=bar', 7],
  ['wait=21', 20],
  ['wait=999999999', 20],
  ['wait=9999999999999', null],
  ['wait=-1', null],
  ['wait=1.5', null],
  ['waiting=7', null],
  ['foo="wait=7"', null],
]

for (const [header, seconds] of CASES) {
  test(`Prefer: ${header} waits ${seconds === null ? 'not at all' : `${seconds} s`}`, () => {
    assert.equal(parseWaitSeconds(header), seconds)
  })
}

const poll = (gate_id: string, token = '') => ({ gate_id, token_sha256: Buffer.from(token) })

test('polls of different gates are counted together, those of one gate one after the other', () => {
  const [a, b, again, third] = [poll('a'), poll('b'), poll('a', 'wrong'), poll('a')]
  assert.deepEqual(splitRounds([a, b, again, third]), [[a, b], [again], [third]])
  assert.deepEqual(splitRounds([]), [])
})
