import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseWaitSeconds } from './poll-gate.ts'

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
