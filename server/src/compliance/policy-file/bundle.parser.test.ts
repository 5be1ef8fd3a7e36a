import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { hashBundle, parseBundle } from './bundle.parser.ts'

const WASM = Buffer.from('\0asm\x01\0\0\0', 'latin1')
const END = Buffer.alloc(1024)

type EntryOptions = { type?: string; linkname?: string; checksum?: number }

/** One entry of a tar archive (POSIX.1-2024, pax, "ustar Interchange Format"). */
function entry(name: string, content: Buffer, { type = '0', linkname = '', checksum }: EntryOptions = {}): Buffer {
  const header = Buffer.alloc(512)
  header.write(name, 0, 100, 'latin1')
  header.write(content.length.toString(8).padStart(11, '0'), 124, 'latin1')
  header.fill(' ', 148, 156)
  header.write(type, 156, 'latin1')
  header.write(linkname, 157, 'latin1')
  header.write('ustar\x0000', 257, 'latin1')
  const sum = checksum ?? header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return Buffer.concat([header, content, Buffer.alloc((512 - (content.length % 512)) % 512)])
}

const MODULE = entry('/policy.wasm', WASM)
const DATA = entry('/data.json', Buffer.from('{"max": 3}'))
const bundle = (...parts: Buffer[]) => gzipSync(Buffer.concat(parts))
const parse = (bytes: Buffer) => parseBundle(bytes, 'b.tar.gz')

test('a module without a bundle has no data', async () => {
  assert.deepEqual(await parseBundle(WASM, 'p.wasm'), { wasm: WASM, data: {} })
})

test('a bundle is its module and its data', async () => {
  assert.deepEqual(await parse(bundle(DATA, MODULE, entry('/.manifest', Buffer.from('{}')), END)), {
    wasm: WASM,
    data: { max: 3 },
  })
  assert.deepEqual((await parse(bundle(entry('policy.wasm', WASM), END))).data, {})
  assert.deepEqual((await parse(bundle(entry('./policy.wasm', WASM), END))).data, {})
})

test('an archive may be padded with zeros to the size of a record', async () => {
  assert.deepEqual((await parse(bundle(MODULE, Buffer.alloc(10_240)))).wasm, WASM)
})

test('links, directories and paths that lead elsewhere are skipped', async () => {
  const skipped = [
    entry('data.json', Buffer.alloc(0), { type: '2', linkname: '/etc/passwd' }),
    entry('data.json', Buffer.alloc(0), { type: '1', linkname: 'policy.wasm' }),
    entry('data.json', Buffer.alloc(0), { type: '5' }),
    entry('../data.json', Buffer.from('{"max": 4}')),
    entry('/../policy.wasm', Buffer.from('other')),
    entry('nested/data.json', Buffer.from('{"max": 5}')),
  ]
  assert.deepEqual(await parse(bundle(...skipped, MODULE, END)), { wasm: WASM, data: {} })
  await assert.rejects(
    parse(bundle(entry('policy.wasm', Buffer.alloc(0), { type: '2', linkname: '/etc/passwd' }), END)),
    /has no policy\.wasm/,
  )
})

test('equal bundles have equal digests', () => {
  const digest = hashBundle({ wasm: WASM, data: {} })
  assert.equal(hashBundle({ wasm: Buffer.from(WASM), data: {} }), digest)
  assert.notEqual(hashBundle({ wasm: WASM, data: { max: 3 } }), digest)
})

const LONG_NAME = entry('././@LongLink', Buffer.from('n'.repeat(300)), { type: 'L' })
const MANY = Array.from({ length: 1001 }, (_, index) => entry(`f${index}`, Buffer.alloc(0)))

const REFUSED: [what: string, bytes: Buffer, message: RegExp][] = [
  ['another kind of file', Buffer.from('package a'), /neither a WebAssembly module nor an OPA bundle\.tar\.gz/],
  ['an empty file', Buffer.alloc(0), /neither/],
  ['a bundle without a module', bundle(entry('/a.rego', Buffer.from('package a')), END), /has no policy\.wasm/],
  ['a module that is not WebAssembly', bundle(entry('policy.wasm', Buffer.from('wasm')), END), /has no policy\.wasm/],
  ['something other than tar', gzipSync(Buffer.alloc(2048, 1)), /is not a complete tar archive/],
  ['bytes that are not tar, before the end', bundle(Buffer.alloc(512, 1), END), /not a valid tar archive: .*header/],
  ['an archive cut off in a header', bundle(MODULE.subarray(0, 300)), /is not a complete tar archive/],
  ['an archive cut off in a file', bundle(MODULE.subarray(0, 515)), /is not a complete tar archive/],
  ['an archive cut off after a file', bundle(MODULE), /is not a complete tar archive/],
  [
    'an archive cut off in a file full of zeros',
    bundle(MODULE, entry('z', Buffer.alloc(8192)).subarray(0, 4096)),
    /not a valid tar archive: Unexpected end of data/,
  ],
  ['an archive cut off within a block', bundle(MODULE, Buffer.alloc(1300)), /not a valid tar archive: Unexpected end/],
  [
    'a header with a wrong checksum',
    bundle(MODULE, entry('/data.json', Buffer.from('{}'), { checksum: 1 }), END),
    /not a valid tar archive: .*header/,
  ],
  ['data after the end of the archive', bundle(MODULE, END, Buffer.from('more')), /is not a complete tar archive/],
  ['an archive after the archive', bundle(MODULE, END, Buffer.alloc(512, 1), END), /not a valid tar archive/],
  [
    'data after the end of the gzip stream',
    Buffer.concat([bundle(MODULE, END), Buffer.from('x')]),
    /is not valid gzip/,
  ],
  ['a gzip stream that is cut off', bundle(MODULE, END).subarray(0, -10), /is not valid gzip/],
  ['a broken gzip stream', Buffer.from([0x1f, 0x8b, 1, 2, 3]), /is not valid gzip/],
  ['a gzip bomb', gzipSync(Buffer.alloc(40 * 1024 * 1024)), /unpacks to more than 33554432 bytes/],
  ['too many entries', bundle(...MANY, MODULE, END), /has more than 1000 entries/],
  ['a name that is too long', bundle(LONG_NAME, MODULE, END), /a name of more than 255 characters/],
  ['two modules', bundle(MODULE, MODULE, END), /has two entries named policy\.wasm/],
  [
    'data that is not JSON',
    bundle(MODULE, entry('/data.json', Buffer.from('{')), END),
    /data\.json that is not valid JSON/,
  ],
]

for (const [what, bytes, message] of REFUSED) {
  test(`refused: ${what}`, () => assert.rejects(parse(bytes), message))
}
