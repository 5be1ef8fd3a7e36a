import type { Db, Tx } from '../../platform/db/sql.ts'
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
