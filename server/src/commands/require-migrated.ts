import { pendingUpdates } from '../bring-up-to-date.ts'
import type { Sql } from '../platform/db/sql.ts'
import { PROGRAM } from './command.ts'

/**
 * Fails unless the database is migrated. `server` and `worker` never migrate it themselves: several
 * may run.
 */
export async function requireMigrated(sql: Sql): Promise<void> {
  const pending = await pendingUpdates(sql)
  if (pending.length === 0) return
  throw new Error(`The database is not up to date (${pending.join(', ')}); run: ${PROGRAM} migrate`)
}
