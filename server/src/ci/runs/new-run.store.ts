import type { Db } from '../../platform/db/sql.ts'
import { type LinkedRepository, linkedRepository, type RunRow } from './run.store.ts'
import type { AttemptRow } from './run-attempt.store.ts'

/** A run with its first attempt, created at `created_at`. */
export type NewRun = RunRow & {
  /** The number of this run among the new runs of its credential on the UTC day of `created_at`. */
  day_number: number
  attempt: AttemptRow
  created_at: Date
}

/** The columns of an inserted run that its caller does not know yet. */
export type InsertedRun = { id: string; linked_repository: LinkedRepository | null }

/**
 * Inserts runs, each with its first attempt, and returns the inserted ones. A run is left out when
 * it exists already or when another process has used its day number; `lockRun` finds out which.
 * Rows are inserted in a fixed order, so that two calls cannot deadlock.
 */
export async function insertRuns(db: Db, runs: readonly NewRun[]): Promise<InsertedRun[]> {
  return db<InsertedRun[]>`
    insert into ci_runs as run (
      org_id, id, provider, ci_system, ci_system_name, external_run_id, repository, commit_sha, ref, pipeline_name,
      event, trust, credential_type, credential_id, credential_name, day, day_number, newest_attempt, status, url,
      actor, started_at, deadline_at, created_at, updated_at
    )
    select org_id, id, provider, ci_system, ci_system_name, external_run_id, repository, commit_sha, ref,
      pipeline_name, event, trust, credential_type, credential_id, credential_name, created_at, day_number, number,
      status, url, actor, started_at, deadline_at, created_at, created_at
    from json_to_recordset(${db.json(runs.map(toRecord))}::json) as given (
      org_id uuid, id text, provider text, ci_system text, ci_system_name text, external_run_id text,
      repository text, commit_sha text, ref text, pipeline_name text, event text, trust text,
      credential_type text, credential_id uuid, credential_name text, day_number smallint,
      number smallint, status text, url text, actor text, started_at timestamptz, deadline_at timestamptz,
      created_at timestamptz
    )
    order by org_id, ci_system, external_run_id
    on conflict do nothing
    returning run.id, ${linkedRepository(db)} as linked_repository`
}

function toRecord({ credential, attempt, ...run }: NewRun) {
  return {
    ...run,
    ...attempt,
    credential_type: credential.type,
    credential_id: credential.id,
    credential_name: credential.name,
  }
}

const DAY_NUMBERS_AT_ONCE = 500

/**
 * Numbers from 1 to `max` that no run of the credential has on that day, in random order so that
 * processes rarely collide.
 */
export async function findFreeDayNumbers(
  db: Db,
  credential: { org_id: string; id: string },
  day: Date,
  max: number,
): Promise<number[]> {
  const rows = await db<{ number: number }[]>`
    select number
    from generate_series(1, ${max}::int) number
    where not exists (
      select from ci_runs
      where org_id = ${credential.org_id}
        and credential_id = ${credential.id}
        and day = ${day}
        and day_number = number
    )
    order by random()
    limit ${DAY_NUMBERS_AT_ONCE}`
  return rows.map((row) => row.number)
}
