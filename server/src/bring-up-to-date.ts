import type { Database } from './database.ts'
import { migrate, pendingMigrations } from './platform/db/migrate.ts'
import type { Sql } from './platform/db/sql.ts'
import type { Log } from './platform/log.ts'
import { queueIsMissing } from './platform/queue/queue.store.ts'

/** The name under which the queue's own tables stand in a list of migrations. */
const QUEUE = 'graphile_worker'

/** What the database still lacks: our migrations by name, and the queue's tables. */
export async function pendingUpdates(sql: Sql): Promise<string[]> {
  const [names, queueMissing] = await Promise.all([pendingMigrations(sql), queueIsMissing(sql)])
  return queueMissing ? [...names, QUEUE] : names
}

/** Applies our migrations and the queue's own, and answers their names. Safe to call from several processes at once. */
export async function bringUpToDate(sql: Sql, database: Pick<Database, 'url'>, log: Log): Promise<string[]> {
  const applied = await migrate(sql)
  if (!(await queueIsMissing(sql))) return applied
  const { migrateQueue } = await import('./platform/queue/worker.ts')
  await migrateQueue(database.url, log)
  return [...applied, QUEUE]
}
