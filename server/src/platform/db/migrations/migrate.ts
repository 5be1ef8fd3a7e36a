import type { Sql, Tx } from '../sql.ts'
import { createRecords, readRecords, record } from './migration-records.ts'
import { checkIsNotNewer, type RecordedMigrations, type Step, selectMigrationSteps } from './plan-migrations.ts'
import { MIGRATIONS, type Migration, readMigrations } from './read-migrations.ts'
import { type FollowBatches, parseStatements, runBatches, runMigrationStep, runStatements } from './run-migration.ts'

type MigrateOptions = {
  /** Another directory of migrations. */
  directory?: URL
  follow?: FollowBatches
}

/**
 * Migrates the schema, and returns the names of the applied files. Several processes may call it at
 * the same time. Throws `NewerDatabaseError` and `TooOldDatabaseError`.
 */
export async function migrate(sql: Sql, options: MigrateOptions = {}): Promise<string[]> {
  const { directory = MIGRATIONS, follow = () => {} } = options
  const known = await readMigrations(directory)
  const recorded = await readRecords(sql)
  checkIsNotNewer(known, recorded)
  const steps = selectMigrationSteps(known, recorded)
  if (steps.length === 0) return []
  await runMigrationStep(sql, 'schema_migrations', createRecords)
  const applied: string[] = []
  for (const step of steps) if (await apply(sql, step, follow)) applied.push(step.migration.name)
  return applied
}

/** Returns the names of the migrations that were not applied yet. */
export async function listPendingMigrations(sql: Sql): Promise<string[]> {
  const steps = selectMigrationSteps(await readMigrations(MIGRATIONS), await readRecords(sql))
  return steps.map(({ migration }) => migration.name)
}

/** Throws `NewerDatabaseError` if a newer program has migrated the database. */
export async function checkDatabaseIsNotNewer(sql: Sql): Promise<void> {
  checkIsNotNewer(await readMigrations(MIGRATIONS), await readRecords(sql))
}

/** Returns false if another process has applied it in the meantime. */
async function apply(sql: Sql, { migration, isInPlace }: Step, follow: FollowBatches): Promise<boolean> {
  if (!isInPlace && migration.kind.run === 'batches') return runBatches(sql, migration, follow)
  if (!isInPlace && migration.kind.run === 'statements') return runStatements(sql, migration)
  return runMigrationStep(sql, migration.name, async (tx) => {
    if ((await readRecords(tx)).get(migration.name) === migration.checksum) return false
    if (!isInPlace) await tx.unsafe(migration.text).simple()
    await record(tx, migration)
    return true
  })
}

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
