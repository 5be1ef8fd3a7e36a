import type { Db, Tx } from '../../platform/db/sql.ts'
import type { RunCourse } from '../provider-runs/attempt-facts.ts'
import type { ProviderRun, ProviderRunKey } from '../provider-runs/provider-run.ts'
import type { RunRow } from './run.store.ts'
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

/**
 * Gives a run that a weaker credential has created the fields that the claims of its token give.
 * The run is locked.
 */
export async function updateClaimedRun(
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
export async function updateClaims(
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

/** The repository has the name that is known now: the event may be from before it was renamed. */
export async function upsertCiRun(tx: Tx, key: ProviderRunKey, run: ProviderRun, course: RunCourse): Promise<void> {
  const { newest, updated_at } = course
  await tx`
    insert into ci_runs (
      org_id, id, provider, external_run_id, repository, commit_sha, ref, pipeline_name, event, trust, newest_attempt,
      status, url, actor, started_at, completed_at, created_at, updated_at
    )
    select ${key.org_id}, ${key.run_id}, ${run.provider}, ${run.external_run_id},
      coalesce(
        (
          select repository.host || '/' || repository.full_name
          from repositories repository
          where repository.org_id = ${key.org_id}
            and repository.provider = ${run.provider}
            and repository.id = ${run.repository_id}
        ),
        ${run.repository}
      ),
      ${run.commit_sha}, ${run.ref}, ${run.workflow_name}, ${run.event}, 'verified', ${newest.number}::smallint,
      ${newest.status}, ${newest.url}, ${newest.actor}, ${newest.started_at}::timestamptz,
      ${newest.completed_at}::timestamptz, ${run.created_at}::timestamptz, ${updated_at}::timestamptz
    on conflict (org_id, id) do update
    set repository = excluded.repository, commit_sha = excluded.commit_sha, ref = excluded.ref,
      pipeline_name = excluded.pipeline_name, event = excluded.event, newest_attempt = excluded.newest_attempt,
      status = excluded.status, url = excluded.url, actor = excluded.actor, started_at = excluded.started_at,
      completed_at = excluded.completed_at, created_at = excluded.created_at, updated_at = excluded.updated_at`
}
