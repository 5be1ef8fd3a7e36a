import type { Db } from '../../platform/db/sql.ts'
import { buildAttempts, buildStatusAt } from '../runs/run-attempt.store.ts'
import { TRUST_CLASSES, type TrustClass } from '../runs/trust.ts'

export type RunName = { id: string; attempt: number; ref: string | null; trust: TrustClass }

const RUNS_MAX = 100

/**
 * The newest runs of a repository that have finished or have a report, as many of each lane, so
 * that none takes the place of another (trust §1). Runs of pull requests are left out: their code
 * is not in the repository yet.
 */
export async function findNewestRuns(db: Db, orgId: string, repository: string, now: Date): Promise<RunName[]> {
  const ended: ReturnType<Db> = db`completed_at is not null`
  // Few runs are open at a time, so looking for their reports is cheap.
  const open: ReturnType<Db> = db`completed_at is null and (deadline_at <= ${now} or ${hasReports(db)})`
  return db<RunName[]>`
    select run.id, run.attempt, run.ref, lane.trust
    from unnest(${[...TRUST_CLASSES]}::text[]) lane (trust)
    cross join lateral (
      (${newestRuns(db, orgId, repository, ended)})
      union all
      (${newestRuns(db, orgId, repository, open)})
      order by created_at desc, id desc
      limit ${RUNS_MAX}
    ) run
    order by run.created_at desc, run.id desc`
}

function newestRuns(db: Db, orgId: string, repository: string, which: ReturnType<Db>) {
  return db`
    select id, newest_attempt as attempt, ref, created_at
    from ci_runs run
    where org_id = ${orgId}
      and repository = ${repository}
      and trust = lane.trust
      and event <> 'pull_request'
      and (provider = 'other' or not ${isOfPullRequest(db)})
      and ${which}
    order by created_at desc, id desc
    limit ${RUNS_MAX}`
}

/** Code hosts have more than one event for pull requests. */
function isOfPullRequest(db: Db): ReturnType<Db> {
  return db`
    exists (
      select from provider_runs provider_run
      where provider_run.org_id = run.org_id
        and provider_run.run_id = run.id
        and provider_run.trigger_kind = 'pull_request'
    )`
}

function hasReports(db: Db): ReturnType<Db> {
  return db`
    exists (
      select from ci_reports report
      where report.org_id = run.org_id
        and report.run_id = run.id
    )`
}

/** The repository of a run; null when the run does not exist. */
export async function findRunRepository(db: Db, orgId: string, runId: string): Promise<string | null> {
  const [row] = await db<{ repository: string }[]>`
    select repository
    from ci_runs
    where org_id = ${orgId}
      and id = ${runId}`
  return row?.repository ?? null
}

/** The commits that a run and its attempts are about. */
export async function listRunCommits(db: Db, orgId: string, runId: string): Promise<string[]> {
  const rows = await db<{ commit_sha: string }[]>`
    select commit_sha
    from ci_runs
    where org_id = ${orgId}
      and id = ${runId}
      and commit_sha is not null
    union
    select commit_sha
    from ${buildAttempts(db, orgId, runId)} attempt
    where commit_sha is not null`
  return rows.map(({ commit_sha }) => commit_sha)
}

/** The repository that the newest token of a run names with this address; null if none does. */
export async function findClaimedRepository(
  db: Db,
  orgId: string,
  address: string,
): Promise<{ provider: string; id: string } | null> {
  const [row] = await db<{ provider: string; id: string }[]>`
    select claimed_provider as provider, claimed_repository_id as id
    from ci_runs
    where org_id = ${orgId}
      and repository = ${address}
      and claimed_provider is not null
    order by created_at desc
    limit 1`
  return row ?? null
}

/**
 * Every repository that has runs. For finished runs the query steps through the index from one
 * repository to the next, so its cost does not depend on their number.
 */
export async function listRunRepositories(db: Db, orgId: string, limit: number): Promise<string[]> {
  const rows = await db<{ repository: string }[]>`
    with recursive known as (
      (
        select repository
        from ci_runs
        where org_id = ${orgId}
          and completed_at is not null
        order by repository
        limit 1
      )
      union all
      select (
        select run.repository
        from ci_runs run
        where run.org_id = ${orgId}
          and run.repository > known.repository
          and run.completed_at is not null
        order by run.repository
        limit 1
      )
      from known
      where known.repository is not null
    )
    select repository
    from known
    where repository is not null
    union
    select repository
    from ci_runs
    where org_id = ${orgId}
      and completed_at is null
    limit ${limit}`
  return rows.map(({ repository }) => repository)
}

/** A run that a policy can be tried on, with its newest attempt. */
export type RecentRun = {
  id: string
  attempt: number
  repository: string
  ref: string | null
  commit_sha: string | null
  pipeline_name: string
  status: string
  created_at: Date
}

type RecentFilter = { since: Date; repository: string | null; limit: number }

/** The runs of an organization, newest first. `repository` is `owner/name`. */
export async function listRecentRuns(db: Db, orgId: string, filter: RecentFilter, now: Date): Promise<RecentRun[]> {
  const { since, repository, limit } = filter
  return db<RecentRun[]>`
    select id, newest_attempt as attempt, repository, ref, commit_sha, pipeline_name,
      ${buildStatusAt(db, 'run', now)} as status, created_at
    from ci_runs run
    where org_id = ${orgId}
      and created_at >= ${since}
      ${repository === null ? db`` : db`and run_full_name(repository) = ${repository}`}
    order by created_at desc, id desc
    limit ${limit}`
}
