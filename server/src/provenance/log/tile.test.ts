import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { formatTilePath, parseTilePath, type TileRequest } from './tile.ts'

const PATHS: [path: string, request: TileRequest][] = [
  ['0/000', { kind: 'hashes', level: 0, index: 0, width: 256 }],
  ['0/x001/x234/067', { kind: 'hashes', level: 0, index: 1_234_067, width: 256 }],
  ['1/x001/000.p/17', { kind: 'hashes', level: 1, index: 1000, width: 17 }],
  ['63/999.p/255', { kind: 'hashes', level: 63, index: 999, width: 255 }],
  ['entries/000.p/1', { kind: 'entries', level: 0, index: 0, width: 1 }],
  ['entries/x001/x234/067', { kind: 'entries', level: 0, index: 1_234_067, width: 256 }],
]

for (const [path, request] of PATHS) {
  test(`the path ${path}`, () => {
    assert.deepEqual(parseTilePath(path), request)
    assert.equal(formatTilePath(request), path)
  })
}

test('every tile has exactly one path', () => {
  const request = fc.record(
    {
      kind: fc.constant('hashes' as const),
      level: fc.nat(63),
      index: fc.nat(999_999_999_999_999),
      width: fc.integer({ min: 1, max: 256 }),
    },
    { noNullPrototype: true },
  )
  fc.assert(fc.property(request, (tile) => assert.deepEqual(parseTilePath(formatTilePath(tile)), tile)))
})

const OTHERS = [
  '',
  '0',
  '0/',
  '/0/000',
  '0/0',
  '0/00',
  '0/0000',
  '00/000',
  '01/000',
  '64/000',
  '-1/000',
  '0/x000',
  '0/x000/067', // the path of 67 is 067
  '0/001/067',
  '0/x1/067',
  '0/x001/067/',
  '0//000',
  '0/x001//067',
  '0/../0/000',
  '0/./000',
  '0/000.p',
  '0/000.p/',
  '0/000.p/0',
  '0/000.p/01',
  '0/000.p/256',
  '0/000.p/+1',
  '0/000.p/1/',
  '0/000 ',
  '0/000\n',
  'entries/0/000',
  'Entries/000',
  '0/X001/067',
  '0/x001/x001/x001/x001/x001/001',
  '٠/000',
]

for (const path of OTHERS) {
  test(`no tile has the path ${JSON.stringify(path)}`, () => assert.equal(parseTilePath(path), null))
}
