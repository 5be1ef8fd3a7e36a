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
type MigrationKind =
  | { run: 'transaction' }
  | { run: 'statements' }
  | { run: 'batches' /** The rows of this table are the whole work. */; table: string }

/** A file of an earlier program, by the name and checksum that databases have recorded. */
type RecordedFile = { name: string; checksum: string }

export type Migration = {
  name: string
  text: string
  checksum: string
  kind: MigrationKind
  /**
   * The earlier files that a baseline stands for (`-- replaces: NAME CHECKSUM`). A database
   * that has them all has what the baseline makes.
   */
  replaces: readonly RecordedFile[]
}

const REPLACES = /^-- replaces: (\S+\.sql) ([0-9a-f]{64})$/gm
const BATCHES = /^-- run: batches of (\w+)\n/
const STATEMENTS = '-- run: statement by statement\n'

/** The directory of the program's migrations. */
export const MIGRATIONS = new URL('../../../../migrations/', import.meta.url)

/** Reads the migrations of a directory, in order. Throws if two have one number or one title. */
export async function readMigrations(directory: URL): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort()
  refuseDoubles(names)
  return Promise.all(names.map(async (name) => parseMigration(name, await readFile(new URL(name, directory), 'utf8'))))
}

/** Two branches can add one each: their order would be an accident, and logs could mean either. */
function refuseDoubles(names: readonly string[]): void {
  const files = new Map<string, string>()
  for (const name of names) {
    const [number = '', ...words] = name.split('_')
    for (const part of [number, words.join('_')]) {
      const other = files.get(part)
      if (other !== undefined) throw new Error(`The migrations ${other} and ${name} have one name: ${part}`)
      files.set(part, name)
    }
  }
}

function parseMigration(name: string, text: string): Migration {
  const replaces = Array.from(text.matchAll(REPLACES), ([, was = '', checksum = '']) => ({ name: was, checksum }))
  return { name, text, checksum: computeChecksum(text), kind: parseKind(text), replaces }
}

export function computeChecksum(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function parseKind(text: string): MigrationKind {
  const table = BATCHES.exec(text)?.[1]
  if (table !== undefined) return { run: 'batches', table }
  return { run: text.startsWith(STATEMENTS) ? 'statements' : 'transaction' }
}
