import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Encoding, matchEtag, selectEncoding } from './console-headers.ts'

const CASES: [header: string | undefined, chosen: Encoding][] = [
  [undefined, 'identity'],
  ['', 'identity'],
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip, deflate', 'gzip'],
  ['x-gzip', 'gzip'],
  ['GZIP', 'gzip'],
  ['br;q=0, gzip', 'gzip'],
  ['br;q=0.5, gzip;q=1.0', 'gzip'],
  ['br;q=0.5, gzip;q=0.5', 'br'],
  ['identity, br;q=0.1', 'identity'],
  ['*', 'br'],
  ['*;q=0', 'identity'],
  ['*;q=0, gzip', 'gzip'],
  ['br;q=0, *', 'gzip'],
  ['br; q=0.000', 'identity'],
  ['br;q=high', 'identity'],
  ['zstd', 'identity'],
]
for (const [header, chosen] of CASES) {
  test(`Accept-Encoding ${JSON.stringify(header)} gets ${chosen}`, () => {
    assert.equal(
      selectEncoding(header, () => true),
      chosen,
    )
  })
}

test('an encoding that does not exist is not chosen', () => {
  assert.equal(
    selectEncoding('br, gzip', (encoding) => encoding !== 'br'),
    'gzip',
  )
  assert.equal(
    selectEncoding('br, gzip', (encoding) => encoding === 'identity'),
    'identity',
  )
})

test('an entity tag is compared with each one of the header', () => {
  for (const header of ['"a"', 'W/"a"', '"b", "a"', '*']) assert.ok(matchEtag(header, '"a"'), header)
  for (const header of [undefined, '"b"', 'a', '"a', '']) assert.ok(!matchEtag(header, '"a"'), header)
})
