import assert from 'node:assert/strict'
import { test } from 'node:test'
import { splitRounds } from './poll-counter.ts'

const poll = (gate_id: string, token = '') => ({ gate_id, token_sha256: Buffer.from(token) })

test('polls of different gates are counted together, those of one gate one after the other', () => {
  const [a, b, again, third] = [poll('a'), poll('b'), poll('a', 'wrong'), poll('a')]
  assert.deepEqual(splitRounds([a, b, again, third]), [[a, b], [again], [third]])
  assert.deepEqual(splitRounds([]), [])
})
