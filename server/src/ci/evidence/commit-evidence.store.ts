import { COUNTING_PROVIDERS } from '../../codehosts/catalogue.ts'
import type { TriggerKind } from '../../codehosts/host-run.ts'
import { buildSpreadCondition } from '../../platform/db/spread.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { RepositoryKey } from '../../repositories/repository-identity.ts'
import { buildTrustRank } from '../runs/run.store.ts'
import { buildAttemptSources, buildCompletedAt, buildStatusAt } from '../runs/run-attempt.store.ts'
import type { RunStatus } from '../runs/run-status.ts'
import type { ArtifactLane, CommitRun, RunArtifact } from './commit-evidence.schema.ts'

/**
 * Runs of one commit that are listed, oldest first. Beyond it, those of weaker lanes are left out
 * first: whoever has a key can report any number of runs.
 */
const RUNS_MAX = 1000
/** Artifacts of one run that are listed, by trust and path. */
const ARTIFACTS_MAX = 10_000

/** Runs and artifacts as JSON in SQL. `omitted` counts those beyond the limit. */
type Listed<Item> = { items: Item[]; omitted: number }

export type CommitRuns = Listed<CommitRun>
export type RunArtifacts = Listed<RunArtifact>
/** The lanes of `RunArtifacts`, in the same order. */
export type ArtifactLanes = ArtifactLane[]

/**
 * SQL: the run of a deployment and the status of the deployment's attempt, at `now`, as `run
 * (repository, status, trust, commit_sha)`. No row if the run is unknown; a null status if the
 * attempt is. `alias` has `org_id`, `pipeline_run_id` and `attempt`.
 */
export function buildDeploymentRun(db: Db, orgId: string, alias: string, now: Date) {
  const of = db(alias)
  return db`(
    select coalesce(own.repository, run.repository) as repository, run.trust,
      coalesce(own.commit_sha, run.commit_sha) as commit_sha,
      case when run.newest_attempt = ${of}.attempt then ${buildStatusAt(db, 'run', now)}
        else ${buildStatusAt(db, 'attempt', now)} end as status
    from ci_runs run
    left join ci_run_attempts attempt
      on attempt.org_id = run.org_id and attempt.run_id = run.id and attempt.number = ${of}.attempt
        ${buildSpreadCondition(db, 'attempt', orgId)}
    left join lateral ${buildAttemptSources(db, orgId, db`run.id`)} own on own.number = ${of}.attempt
    where run.org_id = ${of}.org_id ${buildSpreadCondition(db, 'run', orgId)}
      and run.id = ${of}.pipeline_run_id
  )`
}

/**
 * SQL: `CommitRuns` of a commit of a repository, at `now`. `alias` has `org_id`, `commit_sha`,
 * `address` (`host/owner/name`), and `provider` and `repository_id` of a connected repository.
 */
export function buildCommitRunsJson(db: Db, orgId: string, alias: string, now: Date) {
  const of = db(alias)
  return db`(
    select json_build_object(
      'items', coalesce(json_agg(
        json_build_object(
          'id', run.id, 'trust', run.trust, 'provider', run.provider, 'ci_system', run.ci_system,
          'pipeline_name', run.pipeline_name, 'event', run.event, 'ref', run.ref,
          'created_at', rfc3339(run.created_at), 'attempts', ${attemptsJson(db, orgId, now)}
        )
        order by run.created_at, run.id
      ), '[]'),
      'omitted', coalesce(max(run.total), 0) - count(*)
    )
    from (
      select run.*, count(*) over () as total
      from ci_runs run
      where run.org_id = ${of}.org_id ${buildSpreadCondition(db, 'run', orgId)}
        and run.commit_sha = ${of}.commit_sha
        and ${buildIsOfRepository(db, orgId, alias)}
      order by ${buildTrustRank(db, db`run.trust`)}, run.created_at, run.id
      limit ${RUNS_MAX}
    ) run
  )`
}

/**
 * SQL: whether `run` is of a repository: by its address, or by what its token or its code host says
 * of it. `alias` as above.
 */
export function buildIsOfRepository(db: Db, orgId: string, alias: string) {
  const of = db(alias)
  return db`(
    run.repository = ${of}.address
    or (
      run.claimed_provider = ${of}.provider
      and run.claimed_repository_id = ${of}.repository_id
      and (
        run.claimed_provider <> all(${COUNTING_PROVIDERS})
        or split_part(run.repository, '/', 1) = split_part(${of}.address, '/', 1)
      )
    )
    or exists (
      select
      from provider_runs provider_run
      where provider_run.org_id = run.org_id ${buildSpreadCondition(db, 'provider_run', orgId)}
        and provider_run.run_id = run.id
        and provider_run.provider = ${of}.provider
        and provider_run.repository_id = ${of}.repository_id
    )
  )`
}

function attemptsJson(db: Db, orgId: string, now: Date) {
  return db`(
    select json_agg(
      json_build_object(
        'number', attempt.number, 'status', ${buildStatusAt(db, 'attempt', now)}, 'actor', attempt.actor,
        'started_at', rfc3339(attempt.started_at), 'completed_at', rfc3339(${buildCompletedAt(db, 'attempt', now)})
      )
      order by attempt.number
    )
    from (
      select run.newest_attempt as number, run.status, run.actor, run.started_at, run.completed_at, run.deadline_at,
        run.overdue_status
      where coalesce(run.attempt_repository, run.attempt_commit_sha) is null
      union all
      select earlier.number, earlier.status, earlier.actor, earlier.started_at, earlier.completed_at,
        earlier.deadline_at, earlier.overdue_status
      from ci_run_attempts earlier
      where earlier.org_id = run.org_id ${buildSpreadCondition(db, 'earlier', orgId)}
        and earlier.run_id = run.id
        and coalesce(earlier.repository, earlier.commit_sha) is null
    ) attempt
  )`
}

/**
 * SQL: a row `(json, lanes)` with `RunArtifacts` and `ArtifactLanes` of a deployment's run up to
 * the deployment's attempt, because later attempts use the artifacts of earlier ones. Only uploaded
 * artifacts count: their checksums were verified. Those of attempts about another repository or
 * commit do not. The most trustworthy ones are listed first.
 * `alias` has `org_id`, `pipeline_run_id` and `attempt`.
 */
export function buildRunArtifacts(db: Db, orgId: string, alias: string) {
  const of = db(alias)
  return db`(
    select json_build_object(
      'items', coalesce(json_agg(
        json_build_object(
          'path', item.path, 'size', item.size, 'sha256', item.sha256, 'attempt', item.attempt,
          'created_at', rfc3339(item.created_at)
        )
        order by item.path, item.attempt, item.id
      ), '[]'),
      'omitted', coalesce(max(item.total), 0) - count(*)
    ) as json,
    coalesce(json_agg(
      json_build_object('trust', item.trust, 'completed_at', rfc3339(item.completed_at))
      order by item.path, item.attempt, item.id
    ), '[]') as lanes
    from (
      select item.path, item.size, item.sha256, item.created_at, item.id, item.trust,
        coalesce(item.completed_at, item.created_at) as completed_at, report.attempt, count(*) over () as total
      from ci_artifacts item
      join ci_reports report on report.org_id = item.org_id and report.id = item.report_id
      where item.org_id = ${of}.org_id ${buildSpreadCondition(db, 'item', orgId)} ${buildSpreadCondition(db, 'report', orgId)}
        and item.run_id = ${of}.pipeline_run_id
        and item.status = 'uploaded'
        and report.attempt <= ${of}.attempt
        and (
          report.attempt = ${of}.attempt
          or ${buildSource(db, orgId, alias, db`report.attempt`)} = ${buildSource(db, orgId, alias, db`${of}.attempt`)}
        )
      order by ${buildTrustRank(db, db`item.trust`)}, item.path, report.attempt, item.id
      limit ${ARTIFACTS_MAX}
    ) item
  )`
}

/**
 * SQL: the subjects that reports of a deployment's run name, up to the deployment's attempt and
 * with the conditions of `buildRunArtifacts`, as rows `(name, sha256, attempt, trust,
 * created_at)`.
 */
export function buildRunSubjects(db: Db, orgId: string, alias: string) {
  const of = db(alias)
  return db`(
    select item.name, item.sha256, report.attempt, report.trust, item.created_at
    from ci_subjects item
    join ci_reports report on report.org_id = item.org_id and report.id = item.report_id
    where item.org_id = ${of}.org_id ${buildSpreadCondition(db, 'item', orgId)} ${buildSpreadCondition(db, 'report', orgId)}
      and item.run_id = ${of}.pipeline_run_id
      and item.part = 0
      and report.attempt <= ${of}.attempt
      and (
        report.attempt = ${of}.attempt
        or ${buildSource(db, orgId, alias, db`report.attempt`)} = ${buildSource(db, orgId, alias, db`${of}.attempt`)}
      )
    order by ${buildTrustRank(db, db`report.trust`)}, item.name, report.attempt, item.sha256
    limit ${ARTIFACTS_MAX}
  )`
}

/**
 * SQL: the class of the most trustworthy report or file that has a digest; `untrusted` if there is
 * none any more.
 */
export function buildDigestTrust(db: Db, orgId: string, sha256: ReturnType<Db>) {
  return db`coalesce((
    select found.trust
    from (
      select report.trust
      from ci_subjects item
      join ci_reports report on report.org_id = item.org_id and report.id = item.report_id
      where item.org_id = ${orgId}
        and item.sha256 = ${sha256}
      union all
      select trust
      from ci_artifacts
      where org_id = ${orgId}
        and sha256 = ${sha256}
        and status = 'uploaded'
    ) found
    order by ${buildTrustRank(db, db`found.trust`)}
    limit 1
  ), 'untrusted')`
}

/** SQL: a text that is the same for attempts of a run about one repository and commit. */
function buildSource(db: Db, orgId: string, alias: string, number: ReturnType<Db>): ReturnType<Db> {
  const of = db(alias)
  return db`coalesce((
    select concat(known.repository, ' ', known.commit_sha)
    from ${buildAttemptSources(db, orgId, db`${of}.pipeline_run_id`)} known
    where known.number = ${number}
  ), ' ')`
}

/** The newest result of a check of a commit. Times are formatted as in the API. */
export type CheckResult = {
  commit_sha: string
  name: string
  source: string
  status: RunStatus
  url: string | null
  started_at: string | null
  completed_at: string | null
}

const CHECKS_MAX = 2000

/** The newest result of each check of some commits, by commit, name and source. */
export async function listCommitChecks(
  db: Db,
  { org_id, provider, repository_id }: RepositoryKey,
  shas: readonly string[],
): Promise<CheckResult[]> {
  return db<CheckResult[]>`
    select distinct on (commit_sha, name, source) commit_sha, name, source, status, url,
      rfc3339(started_at) as started_at, rfc3339(completed_at) as completed_at
    from commit_checks
    where org_id = ${org_id}
      and provider = ${provider}
      and repository_id = ${repository_id}
      and commit_sha = any(${shas as string[]})
    order by commit_sha, name, source, host_version desc
    limit ${CHECKS_MAX}`
}

/** The checks of some commits that have the ids of jobs, as at hosts where each job is a check. */
export async function listJobChecks(
  db: Db,
  { org_id, provider, repository_id }: RepositoryKey,
  { shas, job_ids }: { shas: readonly string[]; job_ids: readonly string[] },
): Promise<Pick<CheckResult, 'commit_sha' | 'source' | 'name'>[]> {
  return db`
    select distinct commit_sha, source, name
    from commit_checks
    where org_id = ${org_id}
      and provider = ${provider}
      and repository_id = ${repository_id}
      and commit_sha = any(${[...shas]}::text[])
      and id = any(${[...job_ids]}::text[])
    order by commit_sha, source, name
    limit ${CHECKS_MAX}`
}

/** A code host's run of a commit with its newest attempt. Times are formatted as in the API. */
export type RunResult = {
  id: string
  pipeline_name: string
  attempt: number
  status: RunStatus
  url: string | null
  trigger_kind: TriggerKind
  created_at: string
  completed_at: string | null
}

/** The code host's runs of a commit, oldest first. */
export async function listCommitRuns(
  db: Db,
  { org_id, provider, repository_id }: RepositoryKey,
  sha: string,
): Promise<RunResult[]> {
  return db<RunResult[]>`
    select run.id, run.pipeline_name, run.newest_attempt as attempt, run.status, run.url, provider_run.trigger_kind,
      rfc3339(run.created_at) as created_at, rfc3339(run.completed_at) as completed_at
    from provider_runs provider_run
    join ci_runs run on run.org_id = provider_run.org_id and run.id = provider_run.run_id
    where provider_run.org_id = ${org_id}
      and provider_run.provider = ${provider}
      and provider_run.repository_id = ${repository_id}
      and provider_run.commit_sha = ${sha}
    order by run.created_at, run.id
    limit ${RUNS_MAX}`
}
