import { buffer } from 'node:stream/consumers'
import { ArchiveError } from '../platform/archive/archive-format.ts'
import { type Content, parseJson } from '../platform/archive/read-archive.ts'
import { countLines } from '../platform/db/copy-out.ts'
import { measureBytes } from '../platform/metered.ts'
import { type Closing, classifyContent, type ObjectFacts, type Opening } from './manifest.ts'
import { type OpenBackup, readClosing } from './open-backup.ts'

/** What is done with the contents of a backup. Each must read all of its bytes. */
export type BackupSink = {
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

  async #takeClosing(content: Content): Promise<Closing> {
    const closing = await readClosing(content)
    const wrong = Object.entries(closing.rows).find(([table, rows]) => this.#rows[table] !== rows)
    if (wrong) throw new ArchiveError(`The table ${wrong[0]} does not have its ${wrong[1]} rows: the file was changed`)
    if (closing.objects !== this.#objects) throw new ArchiveError('Objects are missing: the file was changed')
    return closing
  }
}
