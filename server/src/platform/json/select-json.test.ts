import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isJson } from '../../../test/support/is-json.ts'
import { createSelectionTree } from './json-selection.ts'
import { decodeText, type JsonLimits, selectJson } from './select-json.ts'

const LIMITS: JsonLimits = { depthMax: 32, valueBytesMax: 1000 }

async function* inPieces(bytes: Uint8Array, pieceBytes: number) {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
}

async function select(json: string | Uint8Array, paths: string[], omit = {}, pieceBytes = 3, limits = LIMITS) {
  const bytes = typeof json === 'string' ? Buffer.from(json) : json
  const selected = []
  for await (const batch of selectJson(inPieces(bytes, pieceBytes), createSelectionTree(paths, omit), limits))
    selected.push(...batch)
  return selected
}

async function values(json: string, paths: string[], omit = {}, pieceBytes = 3) {
  return (await select(json, paths, omit, pieceBytes)).map(({ keys, value }) => [keys, value])
}

test('elements are handed out one by one with the indexes on the way to them', async () => {
  const json = '{"runs":[{"results":[1,{"a":[2]}],"x":{"results":[9]}},{"results":[]},{"results":["b"]}]}'
  assert.deepEqual(await values(json, ['runs[*].results[*]']), [
    [[0, 0], 1],
    [[0, 1], { a: [2] }],
    [[2, 0], 'b'],
  ])
})

test('a type is returned without its value, and wildcard members are returned with their names', async () => {
  const json = '{"a":[1],"b":{"c":null},"d":"e","f":-1.5e3,"g":true}'
  assert.deepEqual(await values(json, ['*:type', 'd']), [
    [['a'], 'array'],
    [['b'], 'object'],
    [[], 'e'],
    [['f'], 'number'],
    [['g'], 'boolean'],
  ])
})

test('a member name written with escapes is still found', async () => {
  assert.deepEqual(await values('{"r\\u0075ns":[1],"ü":2}', ['runs[*]', 'ü']), [
    [[0], 1],
    [[], 2],
  ])
})

test('omitted members are read as null', async () => {
  const json = '{"r":[{"keep":{"drop":1},"drop":{"big":[1,"]}"]},"z":2},{"drop":"x"}]}'
  assert.deepEqual(await values(json, ['r[*]'], { 'r[*]': ['drop'] }), [
    [[0], { keep: { drop: 1 }, drop: null, z: 2 }],
    [[1], { drop: null }],
  ])
})

test('a value over the bound is reported and not kept, and its neighbours are read', async () => {
  const selected = await select(`{"r":["${'x'.repeat(2000)}","ok"]}`, ['r[*]'])
  assert.deepEqual(
    selected.map(({ value, isOversize }) => [value, isOversize]),
    [
      [undefined, true],
      ['ok', false],
    ],
  )
})

test('nesting over the limit is an error that names the limit', async () => {
  await assert.rejects(select('['.repeat(33), []), /nested too deeply/)
  await assert.rejects(select(`{"a":${'['.repeat(200_000)}`, ['b'], {}, 65_536), /nested too deeply/)
  assert.deepEqual(await select('['.repeat(32) + ']'.repeat(32), []), [])
})

test('broken text is refused with the byte where it breaks', async () => {
  const refused = {
    '{"a":1,}': 7,
    '{"a" 1}': 5,
    '[1 2]': 3,
    '[01]': 2,
    '[1.]': 3,
    '[tru]': 4,
    '[1]]': 3,
    '{"a":"\u0001"}': 6,
    '[1}': 2,
  }
  for (const [json, offset] of Object.entries(refused)) {
    await assert.rejects(select(json, ['a']), { name: 'JsonError', offset }, json)
  }
})

test('a document cut off anywhere is refused', async () => {
  const json = '{"a":[1,-2.5e+1,true,null,"x\\"y\\u00e9"],"b":{"c":[{}]}}'
  for (let length = 0; length < json.length; length++) {
    await assert.rejects(select(json.slice(0, length), ['a[*]', 'b']), { name: 'JsonError' }, json.slice(0, length))
  }
})

test('the last of equal member names comes last, and none is lost', async () => {
  assert.deepEqual(await values('{"a":1,"a":2}', ['a']), [
    [[], 1],
    [[], 2],
  ])
})

test('an early end of reading closes the source', async () => {
  let isClosed = false
  async function* endless() {
    try {
      yield Buffer.from('{"a":1,"b":[')
      while (true) yield Buffer.from('0,')
    } finally {
      isClosed = true
    }
  }
  for await (const batch of selectJson(endless(), createSelectionTree(['a']))) {
    assert.equal(batch.length, 1)
    break
  }
  assert.equal(isClosed, true)
})

test('the values of any document in any chunks are equal to those of JSON.parse', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.jsonValue()),
      fc.integer({ min: 1, max: 20 }),
      fc.nat(4),
      async (list, piece, indent) => {
        const json = JSON.stringify({ before: list, list }, null, indent)
        const limits = { depthMax: 100, valueBytesMax: 1_000_000 }
        const selected = await select(json, ['list[*]'], {}, piece, limits)
        assert.deepEqual(
          selected.map(({ value }) => value),
          JSON.parse(json).list,
        )
      },
    ),
  )
})

test('a mutated document is refused exactly when JSON.parse refuses it', async () => {
  const document = Buffer.from('{"a":[1,-0.5e+7,true,null,"x\\n"],"b":{"c":[{},[]]}, "d":false}')
  const bytes = Buffer.from('{}[]",:0123456789.eE+-truefalsn \n\u0000')
  await fc.assert(
    fc.asyncProperty(fc.nat(document.length - 1), fc.constantFrom(...bytes), async (at, byte) => {
      const mutated = Buffer.from(document)
      mutated[at] = byte
      const isRefused = await select(mutated, ['a', 'b', 'd']).then(
        () => false,
        () => true,
      )
      assert.equal(isRefused, !isJson(mutated.toString()), mutated.toString())
    }),
    { numRuns: 1000 },
  )
})

test('with isRestSkimmed, unselected values are not checked and the selected values are the same', async () => {
  const json = '{"skip":{"a":["}",{"b":"\\"]"}]},"want":[1,{"c":"x"}],"more":[[[{}]]]}'
  for (let piece = 1; piece < json.length; piece++) {
    const limits = { depthMax: 32, valueBytesMax: 1000, isRestSkimmed: true }
    const selected = await select(json, ['want', 'more'], {}, piece, limits)
    assert.deepEqual(
      selected.map(({ value }) => value),
      [[1, { c: 'x' }], [[[{}]]]],
    )
  }
  await assert.rejects(
    select(json.slice(0, -1), ['want'], {}, 7, { depthMax: 32, valueBytesMax: 1000, isRestSkimmed: true }),
  )
})

const TEXT = '{"a":"ü € 𝄞"}'

async function decoded(bytes: Uint8Array, pieceBytes: number): Promise<string> {
  async function* source() {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
  }
  const pieces: Buffer[] = []
  for await (const piece of decodeText(source())) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

const littleEndian = Buffer.from(`\ufeff${TEXT}`, 'utf16le')
const encodings = {
  'UTF-8': Buffer.from(TEXT),
  'UTF-8 with a byte order mark': Buffer.from(`\ufeff${TEXT}`),
  'UTF-16, little endian': littleEndian,
  'UTF-16, big endian': Buffer.from(littleEndian).swap16(),
}

for (const [name, bytes] of Object.entries(encodings)) {
  test(`${name} is read in pieces of any size`, async () => {
    for (const pieceBytes of [1, 2, 3, 5, 1000]) assert.equal(await decoded(bytes, pieceBytes), TEXT)
  })
}

test('files shorter than a byte order mark are read', async () => {
  assert.equal(await decoded(Buffer.from(''), 1), '')
  assert.equal(await decoded(Buffer.from('1'), 1), '1')
  assert.equal(await decoded(Buffer.from([0xff, 0xfe]), 1), '')
})
