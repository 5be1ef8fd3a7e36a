import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { parseBundle } from './bundle.parser.ts'

const WASM = Buffer.from('\0asm\x01\0\0\0', 'latin1')

/** A tar archive as `opa build` writes one (POSIX.1-1988 §10.1.1). */
function tar(files: Record<string, Buffer>): Buffer {
  const entries = Object.entries(files).flatMap(([name, content]) => {
    const header = Buffer.alloc(512)
    header.write(name, 0, 'latin1')
    header.write(content.length.toString(8).padStart(11, '0'), 124, 'latin1')
    header.write('0', 156, 'latin1')
    return [header, content, Buffer.alloc((512 - (content.length % 512)) % 512)]
  })
  return Buffer.concat([...entries, Buffer.alloc(1024)])
}

test('a module alone has no data', () => {
  assert.deepEqual(parseBundle(WASM, 'p.wasm'), { wasm: WASM, data: {} })
})

test('a bundle of OPA is its module and its data', () => {
  const files = { '/data.json': Buffer.from('{"max": 3}'), '/policy.wasm': WASM, '/.manifest': Buffer.from('{}') }
  assert.deepEqual(parseBundle(gzipSync(tar(files)), 'b.tar.gz'), { wasm: WASM, data: { max: 3 } })
  assert.deepEqual(parseBundle(gzipSync(tar({ 'policy.wasm': WASM })), 'b.tar.gz').data, {})
})

const REFUSED: [what: string, bytes: Buffer, message: RegExp][] = [
  ['something else', Buffer.from('package a'), /neither a WebAssembly module nor a bundle/],
  ['nothing', Buffer.alloc(0), /neither/],
  ['a bundle of Rego alone', gzipSync(tar({ '/a.rego': Buffer.from('package a') })), /has no policy\.wasm/],
  ['a broken archive', gzipSync(Buffer.alloc(100, 1)), /has no policy\.wasm/],
  ['a file that ends too early', gzipSync(tar({ 'policy.wasm': WASM }).subarray(0, 515)), /has no policy\.wasm/],
  ['a broken gzip', Buffer.from([0x1f, 0x8b, 1, 2, 3]), /cannot be unpacked/],
  ['a bomb', gzipSync(Buffer.alloc(40 * 1024 * 1024)), /is larger than/],
  ['data that is no JSON', gzipSync(tar({ '/policy.wasm': WASM, '/data.json': Buffer.from('{') })), /is no JSON/],
]

for (const [what, bytes, message] of REFUSED) {
  test(`refused: ${what}`, () => assert.throws(() => parseBundle(bytes, 'b.tar.gz'), message))
}
