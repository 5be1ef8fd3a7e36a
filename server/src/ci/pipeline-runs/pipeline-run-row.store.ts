import type { Db } from '../../platform/db/sql.ts'
import { type AttemptTable, buildCompletedAt, buildStatusAt, isOverdue } from '../runs/run-attempt.store.ts'
import type { ClaimedRun } from '../runs/run-row.store.ts'
import type { RunStatus } from '../runs/run-status.ts'

/** An attempt as it is at a certain time. Times are text in the form of PostgreSQL, in UTC. */
export type AttemptRow = {
  number: number
  status: RunStatus
  started_at: string
  completed_at: string | null
  actor: string | null
}

/** A run with its newest attempt, in the columns of `buildRunColumns`. */
export type RunRow = AttemptRow & {
  id: string
  provider: string
  pipeline_name: string
  /** `host/owner/name` */
  repository: string
  commit_sha: string | null
  ref: string | null
  url: string | null
  event: string
  ci_system: string | null
  ci_instance: string | null
  trust: string
  created_at: string
  updated_at: string
  /** Null unless a token has created the run. */
  claims: ClaimedRun['claims'] | null
  claimed_provider: string
  claimed_repository_id: string
  version: string | null
}

/**
 * SQL: what the JSON of a run is made from. Times are read as text, because objects of them take
 * longer to make and to write than everything else of a run.
 */
export function buildRunColumns(db: Db, now: Date) {
  return db`
    run.id, run.provider, run.pipeline_name, run.repository, run.commit_sha, run.ref, run.url, run.event, run.ci_system,
    run.ci_instance, run.trust, run.created_at::text, run.updated_at::text, run.claims, run.claimed_provider,
    run.claimed_repository_id, run.newest_attempt as number, ${attemptColumns(db, 'run', now)}, ${buildRunVersion(db, now)} as version`
}

/**
 * SQL: as long as it is the same, so is what `buildRunColumns` reads: the transaction that wrote
 * the row, and whether the deadline has passed. Null for a run with earlier attempts, which change
 * without it.
 */
export function buildRunVersion(db: Db, now: Date) {
  return db`case when run.newest_attempt = 1 then concat(run.xmin, ${isOverdue(db, 'run', now)}) end`
}

function attemptColumns(db: Db, table: AttemptTable, now: Date) {
  return db`
    ${buildStatusAt(db, table, now)} as status, ${db(table)}.started_at::text,
    (${buildCompletedAt(db, table, now)})::text as completed_at, ${db(table)}.actor`
}

/** The attempts before the newest one, in their order, by the id of the run. */
export async function listEarlierAttempts(
  db: Db,
  orgId: string,
  runs: readonly RunRow[],
  now: Date,
): Promise<Map<string, AttemptRow[]>> {
  const newest = new Map(runs.filter(({ number }) => number > 1).map(({ id, number }) => [id, number]))
  if (newest.size === 0) return new Map()
  const rows = await db<(AttemptRow & { run_id: string })[]>`
    select attempt.run_id, attempt.number, ${attemptColumns(db, 'attempt', now)}
    from ci_run_attempts attempt
    where attempt.org_id = ${orgId}
      and attempt.run_id = any(${[...newest.keys()]})`
  // A run can have got another attempt since it was read.
  const earlier = rows.filter(({ run_id, number }) => number < (newest.get(run_id) as number))
  return Map.groupBy(
    earlier.sort((a, b) => a.number - b.number),
    ({ run_id }) => run_id,
  )
}

/** The members of a run without the braces, and the version of the rows that they come from. */
type ProviderMembers = { version: string; json: string }

/**
 * The members of runs that only code hosts provide, by the id of the run. Ids that are not numbers,
 * such as UUIDs, are null.
 */
export async function listProviderMembers(
  db: Db,
  orgId: string,
  runIds: readonly string[],
): Promise<Map<string, ProviderMembers>> {
  if (runIds.length === 0) return new Map()
  const rows = await db<{ id: string; version: string; json: string }[]>`
    select run.id, ${buildVersion(db)} as version, row_to_json(field)::text as json
    from ${sources(db)}
    cross join lateral (
      select provider_run.author_login is not null as has_author,
        run.status in ('failure', 'timed_out', 'cancelled')
          and provider_run.failure_attempt = run.newest_attempt as has_failure
    ) known
    cross join lateral (
      select
        case run.provider when 'github' then substring(run.external_run_id from '^[0-9]{1,16}$')::bigint end
          as github_run_id,
        provider_run.workflow_path,
        substring(provider_run.repository_id from '^[0-9]{1,16}$')::bigint as repository_id,
        substring(provider_run.repository_owner_id from '^[0-9]{1,16}$')::bigint as repository_owner_id,
        provider_run.commit_message,
        provider_run.release_name,
        substring(
          case when known.has_author then provider_run.author_id else provider_run.actor_id end
          from '^[0-9]{1,16}$'
        )::bigint as author_id,
        case when known.has_author then provider_run.author_login else provider_run.actor_login end as author_login,
        case when known.has_author then provider_run.author_avatar_url else provider_run.actor_avatar_url end
          as author_avatar_url,
        coalesce(file.job_dependencies, '{}') as job_dependencies,
        provider_run.run_number,
        json_build_object(
          'event', run.event,
          'kind', provider_run.trigger_kind,
          'actor', provider_run.actor_login,
          'pull_request', case when provider_run.pull_request_number is not null then
            json_build_object('number', provider_run.pull_request_number, 'url', provider_run.pull_request_url)
          end,
          'merged_pull_request', case when provider_run.merged_pull_request_number is not null then
            json_build_object(
              'number', provider_run.merged_pull_request_number, 'url', provider_run.merged_pull_request_url
            )
          end
        ) as trigger,
        provider_run.actor_login,
        account.name as actor_name,
        provider_run.actor_avatar_url,
        provider_run.actor_url,
        score.importance_score,
        coalesce(score.anomaly_reasons, '{}') as anomaly_reasons,
        case when known.has_failure then provider_run.failure_category end as failure_category,
        case when known.has_failure then provider_run.failure_excerpt end as failure_excerpt,
        case when known.has_failure then score.failure_recurrence end as failure_recurrence,
        provider_run.azure
    ) field
    where run.org_id = ${orgId}
      and run.id = any(${runIds as string[]})`
  return new Map(rows.map(({ id, version, json }) => [id, { version, json: json.slice(1, -1) }]))
}

/** The versions of the rows that the members of these runs come from, by the id of the run. */
export async function listMemberVersions(
  db: Db,
  orgId: string,
  runIds: readonly string[],
): Promise<Map<string, string>> {
  if (runIds.length === 0) return new Map()
  const rows = await db<{ id: string; version: string }[]>`
    select run.id, ${buildVersion(db)} as version
    from ${sources(db)}
    where run.org_id = ${orgId}
      and run.id = any(${runIds as string[]})`
  return new Map(rows.map(({ id, version }) => [id, version]))
}

/** Some of the members depend on the run itself. */
function buildVersion(db: Db) {
  return db`concat(run.xmin, ' ', provider_run.xmin, ' ', file.xmin, ' ', account.xmin, ' ', score.xmin)`
}

function sources(db: Db) {
  return db`
    ci_runs run
    join provider_runs provider_run on provider_run.org_id = run.org_id and provider_run.run_id = run.id
    left join workflow_files file
      on file.org_id = provider_run.org_id
      and file.provider = provider_run.provider
      and file.repository_id = provider_run.repository_id
      and file.blob = provider_run.workflow_blob
    left join provider_accounts account
      on account.org_id = provider_run.org_id
      and account.provider = provider_run.provider
      and account.id = provider_run.actor_id
    left join provider_run_scores score
      on score.org_id = provider_run.org_id
      and score.run_id = provider_run.run_id
      and run.completed_at is not null`
}
