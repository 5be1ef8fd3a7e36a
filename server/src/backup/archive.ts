import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompress } from 'node:zlib'
import { extract, pack } from 'tar-stream'

/** The first entry of an archive says what it is; the last one proves that it is complete. */
export const FIRST_ENTRY = 'shiplock-backup.json'
export const LAST_ENTRY = 'end.json'

/** Large contents are split: tar needs the size of an entry before its bytes. */
export const CHUNK_BYTES = 4 * 1024 * 1024
/** Of chunks whose compression made them longer. */
const ENTRY_BYTES_MAX = CHUNK_BYTES + 64 * 1024

const CHUNK_NAME = /^(.+)\/(\d{6,})\.zst$/

/** The name of one chunk of a content: `cat NAME/*.zst | zstd -d` prints the content. */
function formatChunkName(name: string, nth: number): string {
  return `${name}/${String(nth).padStart(6, '0')}.zst`
}

/** The content that an entry is a chunk of, and its position; null for an entry of its own. */
function parseChunkName(entry: string): { name: string; nth: number } | null {
  const [, name, nth] = CHUNK_NAME.exec(entry) ?? []
  return name === undefined ? null : { name, nth: Number(nth) }
}

/** The text by which the name and the size of an entry are part of the checksum of an archive. */
function describeEntry(name: string, bytes: number): string {
  return `${name}\n${bytes}\n`
}

/** The file is not an archive of ours, or is not as it was written. */
export class ArchiveError extends Error {}

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

const decompress = promisify(zstdDecompress)

type Entry = { name: string; bytes: Buffer }

/** One content of an archive. It must be read before the next one is asked for. */
export type Content = { name: string; chunks: AsyncIterable<Buffer> }

/**
 * Reads the contents of an archive in their order. Throws `ArchiveError` if the archive was cut or
 * changed. Whether it is complete is known only after the last content: what was read before must
 * be undone if this throws.
 */
export async function* readArchive(source: AsyncIterable<Uint8Array>): AsyncGenerator<Content> {
  const entries = provenEntries(source)[Symbol.asyncIterator]()
  try {
    for (let next = await entries.next(); !next.done; ) {
      const { name } = parseChunkName(next.value.name) ?? next.value
      const reader = new ContentReader(name, next.value, entries)
      yield { name, chunks: reader.chunks() }
      next = await reader.skip()
    }
  } finally {
    await entries.return?.(undefined)
  }
}

/** Reads the consecutive chunks of one content. */
class ContentReader {
  readonly #name: string
  readonly #entries: AsyncIterator<Entry>
  #next: IteratorResult<Entry>
  #nth = 0

  constructor(name: string, first: Entry, entries: AsyncIterator<Entry>) {
    this.#name = name
    this.#entries = entries
    this.#next = { value: first }
  }

  async *chunks(): AsyncGenerator<Buffer> {
    for (let entry = await this.#take(); entry; entry = await this.#take()) yield await unpack(entry)
  }

  /** Returns the entry after this content. */
  async skip(): Promise<IteratorResult<Entry>> {
    while (await this.#take());
    return this.#next
  }

  async #take(): Promise<Entry | null> {
    if (this.#next.done) return null
    const entry = this.#next.value
    const chunk = parseChunkName(entry.name)
    if (chunk === null ? entry.name !== this.#name || this.#nth > 0 : chunk.name !== this.#name) return null
    if (chunk !== null && chunk.nth !== this.#nth)
      throw new ArchiveError(`${this.#name} lacks the part ${this.#nth}: the file was changed`)
    this.#nth += 1
    this.#next = await this.#entries.next()
    return entry
  }
}

async function unpack({ name, bytes }: Entry): Promise<Buffer> {
  if (parseChunkName(name) === null) return bytes
  return decompress(bytes, { maxOutputLength: CHUNK_BYTES }).catch((cause) => {
    throw new ArchiveError(`${name} is damaged`, { cause })
  })
}

/** All entries, up to the last one, which must have the checksum of those before it. */
async function* provenEntries(source: AsyncIterable<Uint8Array>): AsyncGenerator<Entry> {
  const digest = createHash('sha256')
  let count = 0
  let isComplete = false
  for await (const entry of readEntries(source)) {
    if (isComplete) throw new ArchiveError('The file has more after its end')
    if (count === 0 && entry.name !== FIRST_ENTRY) throw new ArchiveError('This is not a backup of Shiplock')
    if (entry.name === LAST_ENTRY) {
      const { entries, sha256 } = parseJson(LAST_ENTRY, entry.bytes) as Record<string, unknown>
      if (entries !== count || sha256 !== digest.digest('hex'))
        throw new ArchiveError('The file was changed: its checksum is wrong')
      isComplete = true
    } else {
      digest.update(describeEntry(entry.name, entry.bytes.length)).update(entry.bytes)
      count += 1
    }
    yield entry
  }
  if (count === 0) throw new ArchiveError('This is not a backup of Shiplock')
  if (!isComplete) throw new ArchiveError('The file was cut: its end is missing')
}

/** Parses an entry of JSON. */
export function parseJson(name: string, bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch (cause) {
    throw new ArchiveError(`${name} is damaged`, { cause })
  }
}

async function* readEntries(source: AsyncIterable<Uint8Array>): AsyncGenerator<Entry> {
  const tar = extract()
  const failure = new AbortController()
  const input = Readable.from(source)
  input.on('error', (error) => {
    failure.abort(error)
    tar.destroy(error)
  })
  try {
    for await (const entry of input.pipe(tar)) {
      const { name, size = 0 } = entry.header
      if (size > ENTRY_BYTES_MAX) throw new ArchiveError(`${name} is too long: the file was changed`)
      const parts: Uint8Array[] = []
      for await (const part of entry as AsyncIterable<Uint8Array>) parts.push(part)
      yield { name, bytes: Buffer.concat(parts) }
    }
  } catch (cause) {
    throw describeDamage(failure.signal.reason ?? cause)
  } finally {
    input.destroy()
    tar.destroy()
  }
}

/** Errors of the system, such as those of the disk, are no damage of the archive. */
function describeDamage(error: Error): Error {
  if (error instanceof ArchiveError || 'syscall' in error) return error
  return new ArchiveError(`The file was cut or changed (${error.message})`, { cause: error })
}
