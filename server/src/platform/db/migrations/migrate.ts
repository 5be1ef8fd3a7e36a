import type { Sql } from '../sql.ts'
import { runMigrationStep } from './migration-lock.ts'
import { createRecords, readRecords, record } from './migration-records.ts'
import { checkIsNotNewer, type Step, selectMigrationSteps } from './plan-migrations.ts'
import { MIGRATIONS, readMigrations } from './read-migrations.ts'
import { type FollowBatches, runBatches } from './run-batches.ts'
import { runStatements } from './run-statements.ts'

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
