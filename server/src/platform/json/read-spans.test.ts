import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isJson } from '../../../test/support/is-json.ts'
import type { JsonSpan } from './json-selection.ts'
import { createSelectionTree } from './json-selection.ts'
import { type Element, readSpans } from './read-spans.ts'
import { selectJson } from './select-json.ts'

const LIMITS = { depthMax: 32, valueBytesMax: 2_000_000 }
const SELECTION = createSelectionTree(['list[*]:span'])

async function* inPieces(bytes: Uint8Array, pieceBytes: number) {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
}

async function spansOf(bytes: Uint8Array, pieceBytes: number): Promise<JsonSpan[]> {
  const spans: JsonSpan[] = []
  for await (const batch of selectJson(inPieces(bytes, pieceBytes), SELECTION, LIMITS))
    spans.push(...batch.map(({ value }) => value as JsonSpan))
  return spans
}

async function elements(json: string | Buffer, pieceBytes = 3, omitted: string[] = []): Promise<Element[]> {
  const bytes = Buffer.from(json)
  const read: Element[] = []
  const spans = await spansOf(bytes, pieceBytes)
  for await (const { elements } of readSpans(inPieces(bytes, pieceBytes), spans, omitted, LIMITS))
    read.push(...elements)
  return read
}

const values = async (...args: Parameters<typeof elements>) => (await elements(...args)).map(({ value }) => value)

test('elements of every sort are read, and arrays elsewhere are not', async () => {
  const json = '{"other":[7],"list":[ 1 ,"]",{"a":[2,"}"]}, [3],null , true],"more":{"list":[8]}}'
  assert.deepEqual(await values(json), [1, ']', { a: [2, '}'] }, [3], null, true])
})

test('an empty array and a value that is not an array have no elements', async () => {
  for (const list of ['[]', '[ \n ]', '{"0":1}', 'null', '"[1]"']) {
    assert.deepEqual(await values(`{"list":${list}}`), [], list)
  }
})

test('any elements in any chunks are equal to those of JSON.parse', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.jsonValue()),
      fc.integer({ min: 1, max: 20 }),
      fc.nat(4),
      async (list, piece, indent) => {
        const json = JSON.stringify({ before: list, list, after: 1 }, null, indent)
        assert.deepEqual(await values(json, piece), JSON.parse(json).list)
      },
    ),
  )
})

test('a mutated document is refused exactly when JSON.parse refuses it', async () => {
  const document = Buffer.from('{"a":1, "list":[{"b":[1,-0.5e+7]}, "x\\n",{"c":{}},true ] ,"d":[]}')
  const bytes = Buffer.from('{}[]",:0123456789.eE+-truefalsn \n\u0000')
  await fc.assert(
    fc.asyncProperty(fc.nat(document.length - 1), fc.constantFrom(...bytes), async (at, byte) => {
      const mutated = Buffer.from(document)
      mutated[at] = byte
      const isRefused = await elements(mutated, 5).then(
        () => false,
        () => true,
      )
      assert.equal(isRefused, !isJson(mutated.toString()), mutated.toString())
    }),
    { numRuns: 1000 },
  )
})

test('broken text is refused with the byte where it breaks', async () => {
  const refused = {
    '{"list":[1,]}': 11,
    '{"list":[{} {}]}': 12,
    '{"list":[,1]}': 9,
    '{"list":[{"a":tru}]}': 17,
  }
  for (const [json, offset] of Object.entries(refused)) {
    await assert.rejects(elements(json), { name: 'JsonError', offset }, json)
  }
})

test('many elements are returned in several spans, each exactly once', async () => {
  const list = Array.from({ length: 20_000 }, (_, at) => (at % 7 === 0 ? at : { at, text: 'ü]}' }))
  const bytes = Buffer.from(JSON.stringify({ list }, null, 1))
  const spans = await spansOf(bytes, 1000)
  assert.ok(spans.length > 3 && spans.every(({ from, to }) => to - from < 70_000))
  assert.deepEqual(await values(bytes, 1000), list)
})

test('a large element is read without what is omitted, one over the bound is reported, and their neighbours are read', async () => {
  const large = { keep: 1, drop: 'x'.repeat(3_000_000) }
  const list = [{ a: 1 }, large, { keep: 'x'.repeat(3_000_000) }, { b: 2 }]
  const read = await elements(JSON.stringify({ list }), 100_000, ['drop'])
  assert.deepEqual(
    read.map(({ value, isOversize }) => (isOversize ? 'oversize' : value)),
    [{ a: 1 }, { keep: 1, drop: null }, 'oversize', { b: 2 }],
  )
})

test('nesting over the limit is an error that names the limit', async () => {
  await assert.rejects(elements(`{"list":[${'['.repeat(200_000)}`), /nested too deeply/)
  await assert.rejects(elements(`{"list":[1,${'[{"a":'.repeat(20)}1`), /nested too deeply/)
  const allowed = `${'['.repeat(30)}${']'.repeat(30)}`
  assert.deepEqual(await values(`{"list":[${allowed}]}`), [JSON.parse(allowed)])
})

test('a file that ends before its spans when it is read again is refused', async () => {
  const bytes = Buffer.from('{"list":[{"a":1},{"b":2}]}')
  const spans = await spansOf(bytes, 100)
  const again = readSpans(inPieces(bytes.subarray(0, 20), 100), spans, [], LIMITS)
  await assert.rejects(again.next(), { name: 'JsonError' })
})

test('the file is not read beyond the last span', async () => {
  let pieces = 0
  async function* endless() {
    yield Buffer.from('{"list":[{}],"more":[')
    while (++pieces < 100) yield Buffer.from('0,')
  }
  for await (const { elements } of readSpans(endless(), [{ from: 9, to: 11 }], [], LIMITS)) {
    assert.deepEqual(elements, [{ value: {}, isOversize: false }])
  }
  assert.equal(pieces, 0)
})
