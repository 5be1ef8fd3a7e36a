import type { ExpiringWithId } from '../../platform/db/expiring-rows.ts'
import type { Tx } from '../../platform/db/sql.ts'

/**
 * Runs that were created too long ago. One that has not ended stays, because a deployment may wait
 * for it.
 */
export const EXPIRED_RUNS: ExpiringWithId = {
  kind: 'runs',
  table: 'ci_runs',
  order: 'created_at',
  isExpired: (db, { before }) => db`item.created_at < ${before} and item.completed_at is not null`,
}

/** Deletes the earlier attempts of runs. */
export async function deleteAttempts(tx: Tx, orgId: string, runIds: readonly string[]): Promise<void> {
  await tx`
    delete from ci_run_attempts
    where org_id = ${orgId}
      and run_id = any(${[...runIds]})`
}
