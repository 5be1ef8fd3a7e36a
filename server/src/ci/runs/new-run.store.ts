import type { Db, Tx } from '../../platform/db/sql.ts'
import { type LinkedRepository, linkedRepository, type RunRow } from './run.store.ts'
import type { AttemptRow } from './run-attempt.store.ts'

/** A run with its first attempt, created at `created_at`. */
export type NewRun = RunRow & {
  /** The number of this run among the new runs of its credential on the UTC day of `created_at`. */
  day_number: number
  attempt: AttemptRow
  /** What the claims of a token say about its own run. Null for other runs. */
  claimed: ClaimedRun | null
  created_at: Date
}

/** The repository that a token names, and the claims that identified its job. */
export type ClaimedRun = {
  provider: string
  repository_id: string
  /** Null if the issuer does not tell the code host, otherwise that of the run's `repository`. */
  host: string | null
  claims: Record<string, string>
}

/** The columns of an inserted run that its caller does not know yet. */
export type InsertedRun = { id: string; linked_repository: LinkedRepository | null }

/**
 * Inserts runs, each with its first attempt, and returns the inserted ones. A run is left out when
 * it exists already or when another process has used its day number; `lockRun` finds out which.
 * Rows are inserted in a fixed order, so that two calls cannot deadlock. `orgId` is the
 * organization of all runs, or null for several.
 */
export async function insertRuns(
  db: Db,
  runs: readonly NewRun[],
  orgId: string | null,
): Promise<readonly InsertedRun[]> {
  return db<InsertedRun[]>`
    with inserted as (
    insert into ci_runs as run (
      org_id, id, provider, ci_system, ci_system_name, external_run_id, repository, commit_sha, ref, pipeline_name,
      event, trust, credential_type, credential_id, credential_name, day, day_number, newest_attempt, status, url,
      actor, started_at, deadline_at, claims, claimed_provider, claimed_repository_id, created_at, updated_at
    )
    select org_id, id, provider, ci_system, ci_system_name, external_run_id, repository, commit_sha, ref,
      pipeline_name, event, trust, credential_type, credential_id, credential_name, created_at, day_number, number,
      status, url, actor, started_at, deadline_at, claims, claimed_provider, claimed_repository_id, created_at,
      created_at
    from json_to_recordset(${db.json(runs.map(toRecord))}::json) as given (
      org_id uuid, id text, provider text, ci_system text, ci_system_name text, external_run_id text,
      repository text, commit_sha text, ref text, pipeline_name text, event text, trust text,
      credential_type text, credential_id uuid, credential_name text, day_number smallint,
      number smallint, status text, url text, actor text, started_at timestamptz, deadline_at timestamptz,
      claims jsonb, claimed_provider text, claimed_repository_id text, created_at timestamptz
    )
    order by org_id, ci_system, external_run_id
    on conflict do nothing
    returning run.org_id, run.id, run.repository, run.claimed_provider, run.claimed_repository_id
    )
    select run.id, ${linkedRepository(db, orgId)} as linked_repository
    from inserted run`
}

function toRecord({ credential, attempt, claimed, ...run }: NewRun) {
  return {
    ...run,
    ...attempt,
    claims: claimed?.claims,
    claimed_provider: claimed?.provider,
    claimed_repository_id: claimed?.repository_id,
    credential_type: credential.type,
    credential_id: credential.id,
    credential_name: credential.name,
  }
}

/**
 * Gives a run that a weaker credential has created the fields that the claims of its token give.
 * The run is locked.
 */
export async function takeOverRun(
  tx: Tx,
  { org_id, id }: { org_id: string; id: string },
  run: Omit<NewRun, 'day_number' | 'claimed'> & { claimed: ClaimedRun },
  at: Date,
): Promise<void> {
  const { attempt, claimed } = run
  await tx`
    update ci_runs
    set repository = ${run.repository}, commit_sha = ${run.commit_sha}, ref = ${run.ref},
      pipeline_name = ${run.pipeline_name}, event = ${run.event}, trust = ${run.trust},
      url = coalesce(${attempt.url}, url), actor = coalesce(${attempt.actor}, actor),
      claims = ${tx.json(claimed.claims)}, claimed_provider = ${claimed.provider},
      claimed_repository_id = ${claimed.repository_id}, updated_at = ${at}
    where org_id = ${org_id}
      and id = ${id}`
}

/** Keeps the claims that first identified a job of a code host's run. */
export async function keepClaims(
  db: Db,
  { org_id, run_id }: { org_id: string; run_id: string },
  claims: Record<string, string>,
): Promise<void> {
  await db`
    update ci_runs
    set claims = ${db.json(claims)}
    where org_id = ${org_id}
      and id = ${run_id}
      and claims is null`
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
