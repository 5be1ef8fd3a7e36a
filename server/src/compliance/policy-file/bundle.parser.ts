import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { extract, type Header } from 'tar-stream'
import type { PolicyBundle } from '../policies/policy.schema.ts'

export const BUNDLE_BYTES_MAX = 8 * 1024 * 1024
const UNPACKED_BYTES_MAX = 32 * 1024 * 1024
const ENTRIES_MAX = 1000
const NAME_CHARS_MAX = 255
/** A tar archive ends with two blocks of zeros (POSIX.1-2024, pax, "ustar Interchange Format"). */
const END_OF_ARCHIVE = Buffer.alloc(1024)
const GZIP = Buffer.from([0x1f, 0x8b])
const WASM = Buffer.from('\0asm')

const MODULE = 'policy.wasm'
const DATA = 'data.json'
const READ_FILES = [MODULE, DATA]

/**
 * Reads a compiled policy: a policy.wasm, or the bundle.tar.gz that `opa build -t wasm` writes (OPA
 * documentation, "Bundles"). Throws an error that names the file.
 */
export async function parseBundle(bytes: Buffer, name: string): Promise<PolicyBundle> {
  if (startsWith(bytes, WASM)) return { wasm: bytes, data: {} }
  if (!startsWith(bytes, GZIP)) throw new Error(`${name} is neither a WebAssembly module nor an OPA bundle.tar.gz`)
  const files = await unpack(gunzip(bytes, name), name)
  const wasm = files.get(MODULE)
  if (!wasm || !startsWith(wasm, WASM)) throw new Error(`${name} has no policy.wasm; build it with opa build -t wasm`)
  return { wasm, data: parseData(files.get(DATA), name) }
}

/** Identifies a bundle by its content. */
export function hashBundle({ wasm, data }: PolicyBundle): string {
  return createHash('sha256').update(wasm).update(JSON.stringify(data)).digest('hex')
}

function startsWith(bytes: Buffer, start: Buffer): boolean {
  return bytes.subarray(0, start.length).equals(start)
}

function gunzip(bytes: Buffer, name: string): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: UNPACKED_BYTES_MAX })
  } catch (cause) {
    throw new Error(`${name} is not valid gzip, or unpacks to more than ${UNPACKED_BYTES_MAX} bytes`, { cause })
  }
}

/** Returns the module and the data. All other entries are skipped, and so are links of any name. */
async function unpack(archive: Buffer, name: string): Promise<Map<string, Buffer>> {
  if (!archive.subarray(-END_OF_ARCHIVE.length).equals(END_OF_ARCHIVE)) {
    throw new Error(`${name} is not a complete tar archive: it does not end with two blocks of zeros`)
  }
  const files = new Map<string, Buffer>()
  let entries = 0
  for await (const { header, content } of readTar(archive, name)) {
    entries += 1
    if (entries > ENTRIES_MAX) throw new Error(`${name} has more than ${ENTRIES_MAX} entries`)
    if (header.name.length > NAME_CHARS_MAX) {
      throw new Error(`${name} has an entry with a name of more than ${NAME_CHARS_MAX} characters`)
    }
    const path = header.name.replace(/^\.?\//, '')
    if (header.type !== 'file' || !READ_FILES.includes(path)) continue
    if (files.has(path)) throw new Error(`${name} has two entries named ${path}`)
    files.set(path, content)
  }
  return files
}

async function* readTar(archive: Buffer, name: string): AsyncGenerator<{ header: Header; content: Buffer }> {
  const tar = extract()
  tar.end(archive)
  try {
    for await (const entry of tar) {
      const chunks: Buffer[] = []
      for await (const chunk of entry) chunks.push(chunk as Buffer)
      yield { header: entry.header, content: Buffer.concat(chunks) }
    }
  } catch (cause) {
    throw new Error(`${name} is not a valid tar archive: ${(cause as Error).message}`, { cause })
  }
}

function parseData(bytes: Buffer | undefined, name: string): unknown {
  if (!bytes) return {}
  try {
    return JSON.parse(bytes.toString())
  } catch (cause) {
    throw new Error(`${name} has a data.json that is not valid JSON`, { cause })
  }
}
