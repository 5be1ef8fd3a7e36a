import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { zstdDecompress } from 'node:zlib'
import { extract } from 'tar-stream'
import {
  ArchiveError,
  CHUNK_BYTES,
  describeEntry,
  ENTRY_BYTES_MAX,
  FIRST_ENTRY,
  LAST_ENTRY,
  parseChunkName,
} from './archive-format.ts'

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
      requireProof(entry.bytes, { entries: count, sha256: digest.digest('hex') })
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

function requireProof(bytes: Buffer, found: { entries: number; sha256: string }): void {
  const { entries, sha256 } = parseJson(LAST_ENTRY, bytes) as Record<string, unknown>
  if (entries !== found.entries || sha256 !== found.sha256)
    throw new ArchiveError('The file was changed: its checksum is wrong')
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
