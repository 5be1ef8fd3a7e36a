import { setTimeout } from 'node:timers/promises'
import type { Sql } from '../../src/platform/db/sql.ts'

const POLL_MS = 500
/**
 * Jobs of a killed worker go back to the queue within 30 s. Lost webhooks are requested one a second.
 */
const WAIT_MS_MAX = 30 * 60_000

const SAY_EVERY_MS = 10_000

/** Waits until nothing is left to do. Returns what is still open after the time limit. */
export async function untilSettled(sql: Sql, onWait: (left: number, first: string) => void): Promise<string[]> {
  const deadline = performance.now() + WAIT_MS_MAX
  for (let saidAt = performance.now(); ; ) {
    const open = await listOpen(sql)
    if (performance.now() - saidAt > SAY_EVERY_MS) {
      saidAt = performance.now()
      onWait(open.length, open[0] ?? 'nothing')
    }
    if (open.length === 0 || performance.now() > deadline) return open
    await setTimeout(POLL_MS)
  }
}

/** A job of the next hour is not due; a landing whose checks are not known is not, either. */
async function listOpen(sql: Sql): Promise<string[]> {
  const rows = await sql<{ open: string }[]>`
    select 'delivery ' || id || ' ' || coalesce(error, '') as open
    from codehost_deliveries
    where status = 'received'
      and not waiting
    union all
    select 'synchronization of ' || account_login || ' ' || coalesce(sync_error, '')
    from codehost_connections
    where sync_state <> 'idle'
      or last_synced_at is null
    union all
    select 'upload ' || id || ' ' || status
    from security_uploads
    where status in ('queued', 'parsing')
    union all
    select 'job ' || name || ' ' || coalesce(last_error, '')
    from jobs
    where state <> 'failed'
      and (state = 'running' or run_at < now() + interval '1 minute')
      and not (name = 'provenance.record-changes' and run_at > now() + interval '10 seconds')`
  return rows.map(({ open }) => open)
}
