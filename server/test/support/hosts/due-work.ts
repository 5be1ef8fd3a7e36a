import type { Sql } from '../../../src/platform/db/sql.ts'

/**
 * What the program is about to do: deliveries to apply, calls to send, jobs that are due. A job
 * that is tried again within a minute is due; one of the next hour is not. A landing whose checks
 * are not known is not due.
 */
export async function listDue(sql: Sql): Promise<string[]> {
  const rows = await sql<{ due: string }[]>`
    select 'delivery ' || id || ' ' || coalesce(error, '') as due
    from codehost_deliveries
    where status = 'received'
      and not waiting
    union all
    select 'call ' || idempotency_key || ' ' || coalesce(error, '')
    from codehost_calls
    where status = 'pending'
    union all
    select 'synchronization of ' || account_login || ' ' || coalesce(sync_error, '')
    from codehost_connections
    where status = 'active'
      and (sync_state <> 'idle' or last_synced_at is null)
    union all
    select 'job ' || name || ' ' || coalesce(last_error, '')
    from jobs
    where (state = 'running' or (state <> 'failed' and run_at < now() + interval '1 minute'))
      and not (name = 'provenance.record-changes' and run_at > now())`
  return rows.map(({ due }) => due)
}

/** Starts the reads of runs that wait for the run's own event, which would arrive within seconds. */
export async function startDelayedReads(sql: Sql): Promise<void> {
  await sql`
    update jobs
    set run_at = now(), state = 'ready'
    where name = 'codehosts.read-run'
      and state = 'scheduled'
      and attempts = 0`
}
