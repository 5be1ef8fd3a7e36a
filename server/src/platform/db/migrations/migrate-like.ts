import type { Tx } from '../sql.ts'
import { createRecords } from './migration-records.ts'
import { type RecordedMigrations, refuseNewer } from './plan-migrations.ts'
import { type KnownMigrations, MIGRATIONS, type Migration, readMigrations } from './read-migrations.ts'
import { statementsOf } from './run-statements.ts'

/**
 * Gives an empty database the schema of another one, by the same migrations, in one transaction. It
 * gets their records with its rows. Throws if this program does not have them all.
 */
export async function migrateLike(tx: Tx, recorded: RecordedMigrations): Promise<void> {
  const known = await readMigrations(MIGRATIONS)
  refuseOthers(known, recorded)
  await createRecords(tx)
  for (const migration of known.migrations) if (recorded.has(migration.name)) await applyToEmpty(tx, migration)
}

/** Throws if a database was migrated by a newer program, or by other versions of the files. */
export async function requireKnown(recorded: RecordedMigrations): Promise<void> {
  refuseOthers(await readMigrations(MIGRATIONS), recorded)
}

function refuseOthers(known: KnownMigrations, recorded: RecordedMigrations): void {
  refuseNewer(known, recorded)
  const checksums = new Map(known.migrations.map(({ name, checksum }) => [name, checksum]))
  const others = [...recorded].filter(([name, checksum]) => checksums.get(name) !== checksum).map(([name]) => name)
  if (others.length === 0) return
  throw new Error(
    `It was migrated with earlier versions of ${others.join(', ')}. ` +
      'Run "migrate" on the database that it is from, and make a new backup.',
  )
}

/** Without rows there are no batches, and nobody who would wait for an index. */
async function applyToEmpty(tx: Tx, { text, kind }: Migration): Promise<void> {
  if (kind.run === 'transaction') await tx.unsafe(text).simple()
  if (kind.run === 'statements')
    for (const statement of statementsOf(text)) await tx.unsafe(statement.replace(/\bconcurrently\b/i, '')).simple()
}
