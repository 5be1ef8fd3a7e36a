import { distributeTables, listDueMoves } from '../distribution/distribute-tables.ts'
import { checkDatabaseIsNotNewer, listPendingMigrations, migrate } from '../platform/db/migrations/migrate.ts'
import { isSpread, loadSpread } from '../platform/db/spread.ts'
import type { Sql } from '../platform/db/sql.ts'
import { PROGRAM, ProgressBar } from './terminal.ts'

/** What a distributed database lacks if a table is not where it belongs. */
const DISTRIBUTION = 'distribution'

/**
 * Names of what has not been applied yet: migrations and, on several servers, the distribution of
 * tables. Throws `NewerDatabaseError` if a newer program has migrated the database.
 */
export async function listPendingUpdates(sql: Sql): Promise<string[]> {
  await checkDatabaseIsNotNewer(sql)
  const names = await listPendingMigrations(sql)
  const misplaced = await findMisplaced(sql)
  return [...names, ...(misplaced.length > 0 ? [DISTRIBUTION] : [])]
}

/** The tables of a distributed database that are not where they belong. */
async function findMisplaced(sql: Sql) {
  await loadSpread(sql)
  return isSpread() ? listDueMoves(sql) : []
}

/**
 * Applies the migrations, and distributes tables that are new in a distributed database. Returns
 * the names of what was applied. Several processes may call it at the same time.
 */
export async function applyUpdates(sql: Sql, say?: Say): Promise<string[]> {
  const applied = await applyMigrations(sql, say)
  const misplaced = await findMisplaced(sql)
  if (misplaced.length === 0) return applied
  await distributeTables(sql, misplaced)
  return [...applied, DISTRIBUTION]
}

type Say = (line: string) => void

/**
 * Applies the migrations, and returns their names. `say` receives the progress of those that work
 * in batches.
 */
export async function applyMigrations(sql: Sql, say: Say = () => {}): Promise<string[]> {
  const progress = new ProgressBar(say)
  const applied = await migrate(sql, { follow: (rows, total, what) => progress.reach(rows, total, what) })
  progress.end()
  return applied
}

/**
 * Fails unless the database is migrated. `server` and `worker` never migrate it themselves: several
 * may run.
 */
export async function requireMigrated(sql: Sql): Promise<void> {
  const pending = await listPendingUpdates(sql)
  if (pending.length === 0) return
  throw new Error(`The database is not up to date (${pending.join(', ')}); run: ${PROGRAM} migrate`)
}
