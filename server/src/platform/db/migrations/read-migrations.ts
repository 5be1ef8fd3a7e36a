import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'

/**
 * How a migration runs, as its first line says:
 * - `transaction` (no such line): the whole file in one transaction.
 * - `statements` (`-- run: statement by statement`): each statement by itself, for `create index
 *   concurrently`. After an interruption, the file runs again from its beginning.
 * - `batches` (`-- run: batches of TABLE`): one statement, which is repeated until it reports the
 *   end.
 */
export type MigrationKind =
  | { run: 'transaction' }
  | { run: 'statements' }
  | { run: 'batches' /** The rows of this table are the whole work. */; table: string }

export type Migration = { name: string; text: string; checksum: string; kind: MigrationKind }

/**
 * What turns databases that were migrated with earlier versions of a file into what its present
 * version makes. Migrations of released versions never change; these changed before a release.
 */
export type Mend = {
  /** The present file. */
  name: string
  text: string
  /** The earlier versions, by the names and checksums under which databases have recorded them. */
  earlier: readonly { name: string; checksum: string }[]
}

/** What the program knows. `mends` are those of the migrations with their name. */
export type KnownMigrations = { migrations: readonly Migration[]; mends: ReadonlyMap<string, Mend> }

const EARLIER = /^-- earlier: (\S+\.sql) ([0-9a-f]{64})$/gm
const BATCHES = /^-- run: batches of (\w+)\n/
const STATEMENTS = '-- run: statement by statement\n'

/** The directory of the program's migrations. */
export const MIGRATIONS = new URL('../../../../migrations/', import.meta.url)

/** Reads the migrations of a directory, and the mends in its directory `earlier`. */
export async function readMigrations(directory: URL): Promise<KnownMigrations> {
  const migrations = await readSqlFiles(directory)
  const mends = (await readSqlFiles(new URL('earlier/', directory))).map(({ name, text }): [string, Mend] => {
    const earlier = Array.from(text.matchAll(EARLIER), ([, was = '', checksum = '']) => ({ name: was, checksum }))
    return [name, { name, text, earlier }]
  })
  return {
    migrations: migrations.map(({ name, text }) => ({ name, text, checksum: checksumOf(text), kind: kindOf(text) })),
    mends: new Map(mends),
  }
}

export function checksumOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function kindOf(text: string): MigrationKind {
  const table = BATCHES.exec(text)?.[1]
  if (table !== undefined) return { run: 'batches', table }
  return { run: text.startsWith(STATEMENTS) ? 'statements' : 'transaction' }
}

async function readSqlFiles(directory: URL): Promise<{ name: string; text: string }[]> {
  const names = await readdir(directory).catch((error) => (error.code === 'ENOENT' ? [] : Promise.reject(error)))
  const files = names.filter((name: string) => name.endsWith('.sql')).sort()
  return Promise.all(
    files.map(async (name: string) => ({ name, text: await readFile(new URL(name, directory), 'utf8') })),
  )
}
