import { lockName } from '../../platform/db/advisory-lock.ts'
import { buildAverageId } from '../../platform/db/spread.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import type { RepositoryKey } from '../../repositories/repository-identity.ts'
import { HISTORY_RUNS, type ScoredRun } from './run-scores.ts'

/** The runs of a workflow on a branch. A branch of a fork with the same name is another one. */
export type BranchHistory = RepositoryKey & { workflow_id: string; branch: string; head_repository_id: string }

/** A run to score, and its place in a history; null for a run without a branch or number. */
export type UnscoredRun = { run_id: string; run_number: number; history: BranchHistory | null }

/** Lets one transaction at a time score the runs of a repository. */
export async function lockScores(tx: Tx, { org_id, provider, repository_id }: RepositoryKey): Promise<void> {
  await lockName(tx, `scores ${org_id} ${provider} ${repository_id}`)
}

/** Takes runs to score from the list. */
export async function deleteUnscored(tx: Tx, repository: RepositoryKey, limit: number): Promise<UnscoredRun[]> {
  const { org_id, provider, repository_id } = repository
  return tx<UnscoredRun[]>`
    with taken as (
      delete from unscored_provider_runs
      where (org_id, provider, repository_id, run_id) in (
        select org_id, provider, repository_id, run_id
        from unscored_provider_runs
        where org_id = ${buildAverageId(tx, org_id)}
          and provider = ${provider}
          and repository_id = ${repository_id}
        order by run_id desc
        limit ${limit}
      )
      returning run_id
    )
    select run.run_id, coalesce(run.run_number, 0) as run_number,
      case when run.branch is not null and run.run_number is not null then json_build_object(
        'org_id', run.org_id, 'provider', run.provider, 'repository_id', run.repository_id,
        'workflow_id', run.workflow_id, 'branch', run.branch,
        'head_repository_id', run.head_repository_id
      ) end as history
    from taken
    join provider_runs run on run.org_id = ${buildAverageId(tx, org_id)} and run.run_id = taken.run_id`
}

/** The runs of a history from a number on, in order. */
export async function listRunsFrom(
  tx: Tx,
  history: BranchHistory,
  number: number,
  limit: number,
): Promise<ScoredRun[]> {
  return tx<ScoredRun[]>`
    select ${scoredRun(tx)}
    ${buildRuns(tx, history)}
      and provider_run.run_number >= ${number}
    order by provider_run.run_number, provider_run.run_id
    limit ${limit}`
}

/** The last runs of a history before a number that were completed and not skipped, in order. */
export async function listRunsBefore(tx: Tx, history: BranchHistory, number: number): Promise<ScoredRun[]> {
  const rows = await tx<ScoredRun[]>`
    select ${scoredRun(tx)}
    ${buildRuns(tx, history)}
      and provider_run.run_number < ${number}
      and run.completed_at is not null
      and run.status <> 'skipped'
    order by provider_run.run_number desc, provider_run.run_id desc
    limit ${HISTORY_RUNS}`
  return rows.reverse()
}

export async function listRunsById(tx: Tx, orgId: string, runIds: readonly string[]): Promise<ScoredRun[]> {
  return tx<ScoredRun[]>`
    select ${scoredRun(tx)}
    ${joined(tx)}
    where provider_run.org_id = ${buildAverageId(tx, orgId)}
      and provider_run.run_id = any(${runIds as string[]})
    limit ${runIds.length}`
}

function buildRuns(db: Db, history: BranchHistory) {
  const { org_id, provider, repository_id, workflow_id, branch, head_repository_id } = history
  return db`
    ${joined(db)}
    where provider_run.org_id = ${buildAverageId(db, org_id)}
      and provider_run.provider = ${provider}
      and provider_run.repository_id = ${repository_id}
      and provider_run.workflow_id = ${workflow_id}
      and provider_run.branch = ${branch}
      and provider_run.head_repository_id = ${head_repository_id}
      and provider_run.run_number is not null`
}

function scoredRun(db: Db) {
  return db`
    run.id as run_id, run.status, run.created_at,
    extract(epoch from run.completed_at - run.started_at)::float as duration_seconds,
    coalesce(provider_run.actor_id, provider_run.actor_login) as actor,
    case when run.status in ('failure', 'timed_out', 'cancelled')
      and provider_run.failure_attempt = run.newest_attempt then provider_run.failure_category
    end as failure_category,
    coalesce(provider_run.branch = repository.tracked_branch and provider_run.trigger_kind <> 'pull_request', false)
      as on_tracked_branch,
    coalesce(file.deploys, false) as deploys,
    case when score.run_id is not null then json_build_object(
      'failure_recurrence', score.failure_recurrence, 'anomaly_reasons', score.anomaly_reasons,
      'importance_score', score.importance_score
    ) end as scores`
}

function joined(db: Db) {
  return db`
    from provider_runs provider_run
    join ci_runs run on run.org_id = provider_run.org_id and run.id = provider_run.run_id
    left join repositories repository
      on repository.org_id = provider_run.org_id
      and repository.provider = provider_run.provider
      and repository.id = provider_run.repository_id
    left join workflow_files file
      on file.org_id = provider_run.org_id
      and file.provider = provider_run.provider
      and file.repository_id = provider_run.repository_id
      and file.blob = provider_run.workflow_blob
    left join provider_run_scores score
      on score.org_id = provider_run.org_id and score.run_id = provider_run.run_id`
}

/** Stores scores; those of open runs are removed. */
export async function upsertScores(tx: Tx, orgId: string, runs: readonly ScoredRun[]): Promise<void> {
  const open = runs.filter(({ scores }) => scores === null).map(({ run_id }) => run_id)
  const scored = runs.flatMap(({ run_id, scores }) => (scores === null ? [] : [{ run_id, ...scores }]))
  await tx`
    delete from provider_run_scores
    where org_id = ${orgId}
      and run_id = any(${open})`
  await tx`
    insert into provider_run_scores (org_id, run_id, failure_recurrence, anomaly_reasons, importance_score)
    select ${orgId}, run_id, failure_recurrence, anomaly_reasons, importance_score
    from json_to_recordset(${tx.json(scored as never)}::json) as given (
      run_id text, failure_recurrence integer, anomaly_reasons text[], importance_score real
    )
    on conflict (org_id, run_id) do update
    set failure_recurrence = excluded.failure_recurrence, anomaly_reasons = excluded.anomaly_reasons,
      importance_score = excluded.importance_score`
}

/**
 * What is left to do for the runs of a repository. Runs that were asked for before are not counted:
 * the job that asked for them is tried again.
 */
export async function findUnreadRuns(db: Db, repository: RepositoryKey) {
  const { org_id, provider, repository_id } = repository
  const [row] = await db<[{ details: boolean; failures: boolean; scores: boolean }]>`
    select
      exists (
        select from provider_runs
        where org_id = ${org_id}
          and provider = ${provider}
          and repository_id = ${repository_id}
          and details_due
          and details_tried_at is null
      ) as details,
      exists (
        select from provider_runs
        where org_id = ${org_id}
          and provider = ${provider}
          and repository_id = ${repository_id}
          and failure_due
          and failure_tried_at is null
      ) as failures,
      exists (
        select from unscored_provider_runs
        where org_id = ${org_id}
          and provider = ${provider}
          and repository_id = ${repository_id}
      ) as scores`
  return row
}
