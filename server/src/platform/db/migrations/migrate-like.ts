import type { Tx } from '../sql.ts'
import { createRecords } from './migration-records.ts'
import { checkIsNotNewer, type RecordedMigrations, selectMigrationSteps } from './plan-migrations.ts'
import { MIGRATIONS, type Migration, readMigrations } from './read-migrations.ts'
import { parseStatements } from './run-statements.ts'

/**
 * Gives an empty database the schema of another one, in one transaction. It gets the records with
 * its rows. Throws if this program does not have all of its migrations.
 */
export async function migrateLike(tx: Tx, recorded: RecordedMigrations): Promise<void> {
  const known = await readMigrations(MIGRATIONS)
  const pending = listPending(known, recorded)
  await createRecords(tx)
  for (const migration of known) if (!pending.has(migration)) await applyToEmpty(tx, migration)
}

/** Throws if a database was migrated by a newer program, or by other versions of the files. */
export async function requireKnown(recorded: RecordedMigrations): Promise<void> {
  listPending(await readMigrations(MIGRATIONS), recorded)
}

function listPending(known: readonly Migration[], recorded: RecordedMigrations): Set<Migration> {
  checkIsNotNewer(known, recorded)
  const files = known.flatMap((migration) => [migration, ...migration.replaces])
  const checksums = new Map(files.map(({ name, checksum }) => [name, checksum]))
  const others = [...recorded].filter(([name, checksum]) => checksums.get(name) !== checksum).map(([name]) => name)
  if (others.length > 0)
    throw new Error(
      `It was migrated with earlier versions of ${others.join(', ')}. ` +
        'Run "migrate" on the database that it is from, and make a new backup.',
    )
  const steps = selectMigrationSteps(known, recorded).filter(({ isInPlace }) => !isInPlace)
  return new Set(steps.map(({ migration }) => migration))
}

/** Without rows there are no batches, and nobody who would wait for an index. */
async function applyToEmpty(tx: Tx, { text, kind }: Migration): Promise<void> {
  if (kind.run === 'transaction') await tx.unsafe(text).simple()
  if (kind.run === 'statements')
    for (const statement of parseStatements(text)) await tx.unsafe(statement.replace(/\bconcurrently\b/i, '')).simple()
}
