import { distributeTables, planMoves } from '../distribution/distribute-tables.ts'
import { migrate, pendingMigrations, refuseNewerDatabase } from '../platform/db/migrations/migrate.ts'
import { areSpread, learnSpread } from '../platform/db/spread.ts'
import type { Sql } from '../platform/db/sql.ts'
import type { Log } from '../platform/log.ts'
import { queueIsMissing } from '../platform/queue/queue.store.ts'
import type { Database } from './database.ts'
import { PROGRAM } from './program.ts'
import { ProgressBar } from './progress-bar.ts'

/** The name of the queue's tables in a list of migrations. */
const QUEUE = 'graphile_worker'
/** What a distributed database lacks if a table is not where it belongs. */
const DISTRIBUTION = 'distribution'

/**
 * Names of what has not been applied yet: our migrations, the queue's tables and, on several
 * servers, the distribution of tables. Throws `NewerDatabaseError` if a newer program has migrated
 * the database.
 */
export async function pendingUpdates(sql: Sql): Promise<string[]> {
  await refuseNewerDatabase(sql)
  const [names, queueMissing] = await Promise.all([pendingMigrations(sql), queueIsMissing(sql)])
  const misplaced = await findMisplaced(sql)
  return [...names, ...(queueMissing ? [QUEUE] : []), ...(misplaced.length > 0 ? [DISTRIBUTION] : [])]
}

/** The tables of a distributed database that are not where they belong. */
async function findMisplaced(sql: Sql) {
  await learnSpread(sql)
  return areSpread() ? planMoves(sql) : []
}

/**
 * Applies our migrations and the queue's, and distributes tables that are new in a distributed
 * database. Returns the names of what was applied. Several processes may call it at the same time.
 */
export async function bringUpToDate(sql: Sql, database: Pick<Database, 'url'>, log: Log, say?: Say): Promise<string[]> {
  const applied = await applyMigrations(sql, database, log, say)
  const misplaced = await findMisplaced(sql)
  if (misplaced.length === 0) return applied
  await distributeTables(sql, misplaced)
  return [...applied, DISTRIBUTION]
}

type Say = (line: string) => void

/**
 * Applies our migrations and the queue's, and returns their names. `say` receives the progress of
 * migrations that work in batches.
 */
export async function applyMigrations(
  sql: Sql,
  database: Pick<Database, 'url'>,
  log: Log,
  say: Say = () => {},
): Promise<string[]> {
  const progress = new ProgressBar(say)
  const applied = await migrate(sql, { follow: (rows, total, what) => progress.reach(rows, total, what) })
  progress.end()
  if (!(await queueIsMissing(sql))) return applied
  const { migrateQueue } = await import('../platform/queue/worker.ts')
  await migrateQueue(database.url, log)
  return [...applied, QUEUE]
}

/**
 * Fails unless the database is migrated. `server` and `worker` never migrate it themselves: several
 * may run.
 */
export async function requireMigrated(sql: Sql): Promise<void> {
  const pending = await pendingUpdates(sql)
  if (pending.length === 0) return
  throw new Error(`The database is not up to date (${pending.join(', ')}); run: ${PROGRAM} migrate`)
}
