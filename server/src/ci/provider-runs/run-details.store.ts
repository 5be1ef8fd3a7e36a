import type { HostCommit } from '../../codehosts/host-run.ts'
import { buildAverageId, buildSpreadCondition } from '../../platform/db/spread.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { RepositoryKey } from '../../repositories/repository-identity.ts'
import type { RunStatus } from '../runs/run-status.ts'
import type { RunFailure } from './run-failure.ts'
import type { WorkflowFile } from './workflow-file.parser.ts'

/** A run whose details have not been read. */
export type RunWithoutDetails = {
  run_id: string
  external_run_id: string
  commit_sha: string
  workflow_path: string | null
  actor_id: string | null
  actor_login: string | null
  newest_attempt: number
  details_tried_at: Date | null
  /** Earlier attempts that are not known, or whose end is not known. */
  missing_attempts: number[]
}

const MISSING_ATTEMPTS_MAX = 10

/**
 * Runs of a repository whose details have not been read: first those that were not tried, newest
 * first.
 */
export async function listWithoutDetails(
  db: Db,
  repository: RepositoryKey,
  limit: number,
): Promise<RunWithoutDetails[]> {
  const { org_id, provider, repository_id } = repository
  return db<RunWithoutDetails[]>`
    select run.run_id, ci_run.external_run_id, run.commit_sha, run.workflow_path, run.actor_id, run.actor_login,
      ci_run.newest_attempt, run.details_tried_at,
      array(
        select number::int
        from generate_series(1, ci_run.newest_attempt - 1) number
        where not exists (
          select from ci_run_attempts attempt
          where attempt.org_id = run.org_id ${buildSpreadCondition(db, 'attempt', org_id)}
            and attempt.run_id = run.run_id
            and attempt.number = number.number
            and attempt.completed_at is not null
        )
        order by number desc
        limit ${MISSING_ATTEMPTS_MAX}
      ) as missing_attempts
    from provider_runs run
    join ci_runs ci_run on ci_run.org_id = run.org_id and ci_run.id = run.run_id
    where run.org_id = ${buildAverageId(db, org_id)}
      and run.provider = ${provider}
      and run.repository_id = ${repository_id}
      and run.details_due
    order by run.details_tried_at nulls first, run.created_at desc, run.run_id desc
    limit ${limit}`
}

/** Stores what the host knows about a commit, for the given runs. Facts that are known stay. */
export async function updateCommit(
  db: Db,
  orgId: string,
  runIds: readonly string[],
  commit: HostCommit,
): Promise<void> {
  const { author, merged_pull_request: merged } = commit
  await db`
    update provider_runs
    set commit_message = coalesce(commit_message, ${commit.message}),
      author_id = ${author?.id ?? null}, author_login = ${author?.login ?? null},
      author_avatar_url = ${author?.avatar_url ?? null},
      merged_pull_request_number = case when trigger_kind = 'pull_request' then null
        else coalesce(merged_pull_request_number, ${merged?.number ?? null}) end,
      merged_pull_request_url = case when trigger_kind = 'pull_request' then null
        else coalesce(merged_pull_request_url, ${merged?.url ?? null}) end,
      workflow_blob = coalesce(${commit.workflow_blob}, workflow_blob)
    where org_id = ${buildAverageId(db, orgId)}
      and run_id = any(${runIds as string[]})`
}

/**
 * Marks details as read, or as tried if some of them could not be read. Runs with a new attempt are
 * left out, because they may have earlier attempts that were not asked for.
 */
export async function updateDetails(
  db: Db,
  orgId: string,
  runs: readonly RunWithoutDetails[],
  { due, now }: { due: boolean; now: Date },
): Promise<void> {
  const given = runs.map(({ run_id, newest_attempt }) => ({ run_id, newest_attempt }))
  await db`
    update provider_runs run
    set details_due = ${due}, details_tried_at = coalesce(run.details_tried_at, ${now})
    from json_to_recordset(${db.json(given)}::json) as given (run_id text, newest_attempt smallint)
    join ci_runs ci_run on ci_run.id = given.run_id and ci_run.newest_attempt = given.newest_attempt
    where run.org_id = ${buildAverageId(db, orgId)}
      and run.run_id = given.run_id
      and ci_run.org_id = run.org_id`
}

/** Those of the given versions of workflow files that have not been read. */
export async function listUnknownFiles(db: Db, repository: RepositoryKey, blobs: readonly string[]): Promise<string[]> {
  const { org_id, provider, repository_id } = repository
  const rows = await db<{ blob: string }[]>`
    select blob
    from unnest(${blobs as string[]}::text[]) as given (blob)
    where not exists (
      select from workflow_files file
      where file.org_id = ${org_id}
        and file.provider = ${provider}
        and file.repository_id = ${repository_id}
        and file.blob = given.blob
    )
    limit ${blobs.length}`
  return rows.map(({ blob }) => blob)
}

export async function insertWorkflowFile(db: Db, repository: RepositoryKey, blob: string, file: WorkflowFile) {
  const { org_id, provider, repository_id } = repository
  const dependencies = file.job_dependencies === null ? null : db.json(file.job_dependencies)
  await db`
    insert into workflow_files (org_id, provider, repository_id, blob, job_dependencies, deploys)
    values (${org_id}, ${provider}, ${repository_id}, ${blob}, ${dependencies}, ${file.deploys})
    on conflict do nothing`
}

type AccountName = { id: string; name: string | null; read_at: Date }

/** Those of the given accounts whose names have been read since a time. */
export async function listKnownAccounts(
  db: Db,
  { org_id, provider }: RepositoryKey,
  ids: readonly string[],
  since: Date,
): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select id
    from provider_accounts
    where org_id = ${org_id}
      and provider = ${provider}
      and id = any(${ids as string[]})
      and read_at >= ${since}
    limit ${ids.length}`
  return rows.map(({ id }) => id)
}

export async function upsertAccount(db: Db, { org_id, provider }: RepositoryKey, account: AccountName): Promise<void> {
  await db`
    insert into provider_accounts as stored (org_id, provider, id, name, read_at)
    values (${org_id}, ${provider}, ${account.id}, ${account.name}, ${account.read_at})
    on conflict (org_id, provider, id) do update
    set name = coalesce(excluded.name, stored.name), read_at = excluded.read_at`
}

/** A failed attempt that has not been explained. */
export type UnreadFailure = {
  run_id: string
  external_run_id: string
  attempt: number
  status: RunStatus
  failure_tried_at: Date | null
}

/** Failed attempts of a repository: first those that were not tried, newest first. */
export async function listUnreadFailures(db: Db, repository: RepositoryKey, limit: number): Promise<UnreadFailure[]> {
  const { org_id, provider, repository_id } = repository
  return db<UnreadFailure[]>`
    select run.run_id, ci_run.external_run_id, run.failure_attempt as attempt, ci_run.status, run.failure_tried_at
    from provider_runs run
    join ci_runs ci_run on ci_run.org_id = run.org_id and ci_run.id = run.run_id
    where run.org_id = ${org_id}
      and run.provider = ${provider}
      and run.repository_id = ${repository_id}
      and run.failure_due
    order by run.failure_tried_at nulls first, run.created_at desc, run.run_id desc
    limit ${limit}`
}

/**
 * Stores why an attempt failed, unless another attempt has become the newest one. `due`: something
 * could not be read, and may be read later.
 */
export async function updateFailure(
  db: Db,
  orgId: string,
  { run_id, attempt, status }: UnreadFailure,
  failure: RunFailure & { due: boolean; now: Date },
): Promise<void> {
  await db`
    update provider_runs run
    set failure_category = ${failure.failure_category}, failure_excerpt = ${failure.failure_excerpt},
      failure_due = ${failure.due}, failure_tried_at = coalesce(run.failure_tried_at, ${failure.now})
    from ci_runs ci_run
    where run.org_id = ${orgId}
      and run.run_id = ${run_id}
      and run.failure_attempt = ${attempt}
      and ci_run.org_id = run.org_id
      and ci_run.id = run.run_id
      and ci_run.status = ${status}`
}
