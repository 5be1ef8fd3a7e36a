import { buffer } from 'node:stream/consumers'
import { requireKnown } from '../platform/db/migrations/migrate.ts'
import { countLines, measureBytes } from '../platform/db/table-copy.ts'
import { ArchiveError, type Content, FIRST_ENTRY, LAST_ENTRY, parseJson, readArchive } from './archive.ts'
import {
  type Closing,
  classifyContent,
  FORMAT,
  type ObjectFacts,
  type Opening,
  SECRET_KEY_CONTENT,
} from './manifest.ts'

/** What is done with the contents of a backup. Each must read all of its bytes. */
type BackupSink = {
  table(table: Opening['tables'][number], rows: AsyncIterable<Uint8Array>): Promise<void>
  object(key: string, facts: ObjectFacts, bytes: AsyncIterable<Uint8Array>): Promise<void>
}

/**
 * Passes tables and objects to `sink`, in the order of the file, and returns the closing when all
 * of them were there. Throws `ArchiveError` if something is missing or was changed.
 */
export async function readContents(
  { opening, contents }: OpenBackup,
  sink: BackupSink,
  count: (bytes: number) => void,
): Promise<Closing> {
  const reader = new ContentsReader(opening, sink, count)
  try {
    for await (const content of contents) {
      const closing = await reader.take(content)
      if (closing) return closing
    }
  } finally {
    await contents.return(undefined)
  }
  throw new ArchiveError('The file was cut: its end is missing')
}

class ContentsReader {
  readonly #tables: Map<string, Opening['tables'][number]>
  readonly #sink: BackupSink
  readonly #count: (bytes: number) => void
  readonly #rows: Record<string, number>
  #objects = 0
  #facts: { key: string; facts: ObjectFacts } | null = null

  constructor({ tables }: Opening, sink: BackupSink, count: (bytes: number) => void) {
    this.#tables = new Map(tables.map((table) => [table.name, table]))
    this.#rows = Object.fromEntries(tables.map(({ name }) => [name, 0]))
    this.#sink = sink
    this.#count = count
  }

  /** Returns the closing at the end. */
  async take(content: Content): Promise<Closing | null> {
    const kind = classifyContent(content.name)
    if (kind.kind === 'table') await this.#takeTable(kind.table, content)
    else if (kind.kind === 'facts') await this.#takeFacts(kind.key, content)
    else if (kind.kind === 'object') await this.#takeObject(kind.key, content)
    else return this.#takeClosing(content)
    return null
  }

  async #takeTable(name: string, { chunks }: Content): Promise<void> {
    const table = this.#tables.get(name)
    if (!table) throw new ArchiveError(`The table ${name} is unknown: the file was changed`)
    const counted = async function* (this: ContentsReader) {
      for await (const chunk of measureBytes(chunks, this.#count)) {
        this.#rows[name] = (this.#rows[name] ?? 0) + countLines(chunk)
        yield chunk
      }
    }
    await this.#sink.table(table, counted.call(this))
  }

  /** An empty object has no bytes that would follow. */
  async #takeFacts(key: string, { name, chunks }: Content): Promise<void> {
    const facts = parseJson(name, await buffer(chunks)) as ObjectFacts
    this.#facts = { key, facts }
    if (facts.size === 0) await this.#passObject(key, (async function* () {})())
  }

  #takeObject(key: string, { chunks }: Content): Promise<void> {
    return this.#passObject(key, measureBytes(chunks, this.#count))
  }

  async #passObject(key: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    if (this.#facts?.key !== key) throw new ArchiveError(`The object ${key} has no facts: the file was changed`)
    this.#objects += 1
    await this.#sink.object(key, this.#facts.facts, bytes)
  }

  /** Parses the last content, whose presence proves that nothing is missing before it. */
  async #takeClosing({ name, chunks }: Content): Promise<Closing> {
    if (name !== LAST_ENTRY) throw new ArchiveError(`${name} is unknown: the file was changed`)
    const closing = parseJson(name, await buffer(chunks)) as Closing
    const wrong = Object.entries(closing.rows).find(([table, rows]) => this.#rows[table] !== rows)
    if (wrong) throw new ArchiveError(`The table ${wrong[0]} does not have its ${wrong[1]} rows: the file was changed`)
    if (closing.objects !== this.#objects) throw new ArchiveError('Objects are missing: the file was changed')
    return closing
  }
}

/** A backup of which the rows and objects were not read yet. */
export type OpenBackup = {
  opening: Opening
  /** null: it was left out. */
  secret: string | null
  /** Tables, objects and, as the last one, the closing. Must be closed with `return`. */
  contents: AsyncGenerator<Content>
}

/**
 * Reads the beginning of a backup. Throws if it is none, or is from a program that is newer than
 * this one.
 */
export async function openBackup(source: AsyncIterable<Uint8Array>): Promise<OpenBackup> {
  const contents = readArchive(source)
  try {
    const opening = parseJson(FIRST_ENTRY, await readNext(contents, FIRST_ENTRY)) as Opening
    if (opening.format !== FORMAT)
      throw new ArchiveError(`The file has format ${opening.format}; this program reads format ${FORMAT}`)
    await requireKnown(new Map(Object.entries(opening.migrations)))
    const secret = opening.has_secret_key ? await readNext(contents, SECRET_KEY_CONTENT) : null
    return { opening, secret: secret?.toString().trim() ?? null, contents }
  } catch (error) {
    await contents.return(undefined)
    throw error
  }
}

async function readNext(contents: AsyncGenerator<Content>, name: string): Promise<Buffer> {
  const next = await contents.next()
  if (next.done || next.value.name !== name) throw new ArchiveError(`${name} is missing: the file was changed`)
  return buffer(next.value.chunks)
}

/**
 * Reads a backup to its end and compares all checksums and counts. Throws `ArchiveError` if it is
 * not as it was written. Objects that were lost before the backup are in the result.
 */
export async function verifyBackup(
  backup: OpenBackup,
  progress: (done: number, total: number) => void,
): Promise<Closing> {
  let done = 0
  const sink = {
    table: (_table: object, rows: AsyncIterable<Uint8Array>) => drain(rows),
    object: (_key: string, _facts: object, bytes: AsyncIterable<Uint8Array>) => drain(bytes),
  }
  return readContents(backup, sink, (bytes) => {
    done += bytes
    progress(done, backup.opening.estimated_bytes)
  })
}

async function drain(bytes: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of bytes);
}
