import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { constants, zstdCompress } from 'node:zlib'
import { pack } from 'tar-stream'
import { CHUNK_BYTES, describeEntry, FIRST_ENTRY, formatChunkName, LAST_ENTRY } from './archive-format.ts'

const compress = promisify(zstdCompress)
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 } }
const OWNER_ONLY = 0o600

/**
 * Writes a tar archive whose last entry has the SHA-256 of all entries before it. Memory does not
 * grow with the contents.
 */
export class ArchiveWriter {
  readonly #pack = pack()
  readonly #digest = createHash('sha256')
  readonly #at: Date
  #entries = 0

  /** `at` is the time of all entries. */
  constructor(at: Date) {
    this.#at = at
    this.#pack.on('error', () => {}) // the reader and the pending write throw it
  }

  /** The archive. It must be read while entries are added. */
  get bytes(): AsyncIterable<Uint8Array> {
    return this.#pack as AsyncIterable<unknown> as AsyncIterable<Uint8Array>
  }

  /** Adds the first entry. */
  async begin(description: object): Promise<void> {
    await this.add(FIRST_ENTRY, Buffer.from(`${JSON.stringify(description)}\n`))
  }

  async add(name: string, bytes: Buffer): Promise<void> {
    this.#digest.update(describeEntry(name, bytes.length)).update(bytes)
    this.#entries += 1
    await this.#write(name, bytes)
  }

  /** Adds a content of unknown length in compressed chunks. Returns its length in bytes. */
  async addContent(name: string, content: AsyncIterable<Uint8Array>): Promise<number> {
    let contentBytes = 0
    let nth = 0
    let compressed: Promise<Buffer> | undefined
    for await (const chunk of inChunks(content)) {
      contentBytes += chunk.length
      const next = compress(chunk, ZSTD)
      next.catch(() => {}) // it is thrown where it is awaited
      if (compressed) await this.add(formatChunkName(name, nth++), await compressed)
      compressed = next
    }
    if (compressed) await this.add(formatChunkName(name, nth), await compressed)
    return contentBytes
  }

  /** Adds the last entry: `summary` and the checksum. */
  async end(summary: object): Promise<void> {
    const proof = { entries: this.#entries, sha256: this.#digest.digest('hex') }
    await this.#write(LAST_ENTRY, Buffer.from(`${JSON.stringify({ ...summary, ...proof })}\n`))
    this.#pack.finalize()
  }

  /** Makes reading fail. */
  abort(reason: Error): void {
    this.#pack.destroy(reason)
  }

  /** Resolves when the reader can take more. */
  #write(name: string, bytes: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      const header = { name, size: bytes.length, mode: OWNER_ONLY, mtime: this.#at }
      this.#pack.entry(header, bytes, (error) => (error ? reject(error) : resolve()))
    })
  }
}

/** Regroups bytes into chunks of `CHUNK_BYTES`; the last one is shorter. */
async function* inChunks(content: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of content) {
    let rest = part
    while (bytes + rest.length >= CHUNK_BYTES) {
      const taken = CHUNK_BYTES - bytes
      yield Buffer.concat([...parts, rest.subarray(0, taken)])
      rest = rest.subarray(taken)
      parts = []
      bytes = 0
    }
    if (rest.length > 0) parts.push(rest)
    bytes += rest.length
  }
  if (bytes > 0) yield Buffer.concat(parts)
}
