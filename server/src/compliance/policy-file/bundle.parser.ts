import { gunzipSync } from 'node:zlib'
import type { PolicyBundle } from '../policy-bundle.ts'
import { readTar } from './tar.ts'

export const BUNDLE_BYTES_MAX = 8 * 1024 * 1024
const UNPACKED_BYTES_MAX = 32 * 1024 * 1024
const GZIP = Buffer.from([0x1f, 0x8b])
const WASM = Buffer.from('\0asm')

/**
 * A compiled policy: the `policy.wasm` of OPA, or the whole bundle.tar.gz that `opa build -t wasm` writes, with its data
 * (openpolicyagent.org, "Bundles"). Throws an error that names the file.
 */
export function parseBundle(bytes: Buffer, name: string): PolicyBundle {
  if (startsWith(bytes, WASM)) return { wasm: bytes, data: {} }
  if (!startsWith(bytes, GZIP)) throw new Error(`${name} is neither a WebAssembly module nor a bundle.tar.gz of OPA`)
  const files = readTar(unpack(bytes, name))
  const wasm = files.get('policy.wasm')
  if (!wasm || !startsWith(wasm, WASM)) throw new Error(`${name} has no policy.wasm; build it with opa build -t wasm`)
  return { wasm, data: parseData(files.get('data.json'), name) }
}

function startsWith(bytes: Buffer, start: Buffer): boolean {
  return bytes.subarray(0, start.length).equals(start)
}

function unpack(bytes: Buffer, name: string): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: UNPACKED_BYTES_MAX })
  } catch (cause) {
    throw new Error(`${name} cannot be unpacked, or is larger than ${UNPACKED_BYTES_MAX} bytes then`, { cause })
  }
}

function parseData(bytes: Buffer | undefined, name: string): unknown {
  if (!bytes) return {}
  try {
    return JSON.parse(bytes.toString())
  } catch (cause) {
    throw new Error(`${name} has a data.json that is no JSON`, { cause })
  }
}
