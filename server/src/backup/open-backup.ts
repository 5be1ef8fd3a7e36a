import { buffer } from 'node:stream/consumers'
import { ArchiveError, FIRST_ENTRY, LAST_ENTRY } from '../platform/archive/archive-format.ts'
import { type Content, parseJson, readArchive } from '../platform/archive/read-archive.ts'
import { requireKnown } from '../platform/db/migrations/migrate-like.ts'
import { type Closing, FORMAT, type Opening, SECRET_KEY_CONTENT } from './manifest.ts'

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

/** Parses the last content, whose presence proves that nothing is missing before it. */
export async function readClosing({ name, chunks }: Content): Promise<Closing> {
  if (name !== LAST_ENTRY) throw new ArchiveError(`${name} is unknown: the file was changed`)
  return parseJson(name, await buffer(chunks)) as Closing
}

async function readNext(contents: AsyncGenerator<Content>, name: string): Promise<Buffer> {
  const next = await contents.next()
  if (next.done || next.value.name !== name) throw new ArchiveError(`${name} is missing: the file was changed`)
  return buffer(next.value.chunks)
}
