import type { HostDeploymentReview, HostDeploymentStatus, HostGateRequest } from '../../codehosts/host-deployment.ts'
import { formatHostDeploymentId } from '../../codehosts/host-deployment.ts'
import type { HostSource } from '../../codehosts/host-event.ts'
import type { HostRun } from '../../codehosts/host-run.ts'
import { formatHostRunId } from '../../codehosts/host-run.ts'
import { buildIsNewer } from '../../codehosts/host-version.store.ts'
import { computeHostVersion } from '../../codehosts/host-version.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { buildEnvironmentsEqual } from '../../repositories/repository.store.ts'
import type { DeploymentKey } from '../deployment-state.ts'
import { buildEnvironmentNames } from './host-facts.store.ts'
import type { DeploymentFacts, EnvironmentKey, EnvironmentRules } from './host-facts.ts'

/** Returns false if the status is stored already. */
export async function insertStatus(tx: Tx, { org_id, id }: DeploymentKey, status: HostDeploymentStatus) {
  const key = status.id ?? `${status.state} ${status.created_at.toISOString()}`
  const rows = await tx`
    insert into deployment_statuses (
      org_id, deployment_id, id, state, environment_url, log_url, job_id, creator, created_at
    )
    values (
      ${org_id}, ${id}, ${key}, ${status.state}, ${status.environment_url}, ${status.log_url}, ${status.job_id},
      ${status.creator?.login ?? null}, ${status.created_at}
    )
    on conflict (org_id, deployment_id, id) do nothing
    returning id`
  return rows.length > 0
}

export async function upsertGateRequest(tx: Tx, source: HostSource, request: HostGateRequest): Promise<void> {
  const { run, deployment } = request
  await tx`
    insert into deployment_gate_requests as request (
      org_id, provider, repository_id, environment, run_id, attempt, deployment_id, callback_url, callback_secret, requested_at
    )
    values (
      ${source.org_id}, ${source.provider}, ${request.repository.id}, ${request.environment}, ${run?.id ?? ''},
      ${run?.attempt ?? 0}, ${deployment ? formatHostDeploymentId(source.provider, deployment.id) : ''},
      ${request.callback_url}, ${request.callback_secret}, ${request.requested_at}
    )
    on conflict (org_id, provider, repository_id, environment, run_id, attempt, deployment_id) do update
    set callback_url = case
        when (excluded.requested_at, excluded.callback_url) > (request.requested_at, request.callback_url)
        then excluded.callback_url else request.callback_url end,
      callback_secret = case
        when (excluded.requested_at, excluded.callback_url) > (request.requested_at, request.callback_url)
        then excluded.callback_secret else request.callback_secret end,
      requested_at = greatest(request.requested_at, excluded.requested_at)`
}

/**
 * A row for each environment. An event replaces what a list said, because it has the time.
 * `listed` is how often a list contains the review; null for an event.
 */
export async function upsertReview(
  tx: Tx,
  { org_id, provider }: Pick<HostSource, 'org_id' | 'provider'>,
  review: HostDeploymentReview,
  listed: number | null,
): Promise<void> {
  const { run, reviewer } = review
  await tx`
    insert into deployment_reviews as review (
      org_id, provider, repository_id, run_id, attempt, environment, state, reviewer, avatar_url, comment, at, is_listed,
      times
    )
    select ${org_id}, ${provider}, ${review.repository.id}, ${run.id}, ${run.attempt ?? 0}, environment,
      ${review.state}, ${reviewer?.login ?? ''}, ${reviewer?.avatar_url ?? null}, ${review.comment}, ${review.at},
      ${listed !== null}, ${listed ?? 1}
    from unnest(${review.environments}::text[]) environment
    group by environment
    on conflict (org_id, provider, repository_id, run_id, environment, attempt, state, reviewer) do update
    set avatar_url = excluded.avatar_url, comment = excluded.comment, at = excluded.at,
      is_listed = excluded.is_listed, times = excluded.times
    where (not excluded.is_listed, excluded.times, excluded.at) > (not review.is_listed, review.times, review.at)`
}

/** Stores what deployments show of a run. The newest version of each attempt stays. */
export async function upsertRun(tx: Tx, { org_id, provider, learned }: HostSource, run: HostRun): Promise<void> {
  const actor = run.actor ?? run.triggering_actor
  const { repository: _, ...content } = run
  const state = RUN_STATUSES.indexOf(run.status) + 1
  const version = computeHostVersion({ updated_at: run.updated_at, state, content, learned })
  // Runs of earlier releases have only the parts of a version.
  const known: ReturnType<Tx> = tx`coalesce(
    run.host_version,
    concat_ws(' ', '0000', rfc3339(run.updated_at), array_position(${RUN_STATUSES}::text[], run.status), '')
  )`
  await tx`
    insert into deployment_runs as run (
      org_id, run_id, attempt, status, workflow_name, workflow_path, ref, commit_message, release_name, author,
      author_avatar_url, html_url, created_at, updated_at, host_version
    )
    values (
      ${org_id}, ${formatHostRunId(provider, run.id)}, ${run.attempt}, ${run.status}, ${run.workflow.name || null},
      ${run.workflow.path || null}, ${run.ref}, ${run.commit.message}, ${run.release_name}, ${actor?.login ?? null},
      ${actor?.avatar_url ?? null}, ${run.html_url}, ${run.created_at}, ${run.updated_at}, ${version}
    )
    on conflict (org_id, run_id, attempt) do update
    set status = excluded.status, workflow_name = excluded.workflow_name, workflow_path = excluded.workflow_path,
      ref = excluded.ref, commit_message = excluded.commit_message, release_name = excluded.release_name,
      author = excluded.author, author_avatar_url = excluded.author_avatar_url, html_url = excluded.html_url,
      created_at = excluded.created_at, updated_at = excluded.updated_at, host_version = excluded.host_version
    where ${buildIsNewer(tx, tx`excluded.host_version`, known)}`
}

const RUN_STATUSES: HostRun['status'][] = [
  'queued',
  'in_progress',
  'skipped',
  'cancelled',
  'timed_out',
  'failure',
  'success',
]

/** True if an attempt of the run is known. */
export async function hasRun(db: Db, orgId: string, runId: string): Promise<boolean> {
  const rows = await db`
    select
    from deployment_runs
    where org_id = ${orgId}
      and run_id = ${runId}
    limit 1`
  return rows.length > 0
}

/** The newest known attempt of the deployment's run; 1 if the run is unknown. */
export async function findNewestAttempt(db: Db, { org_id, pipeline_run_id }: DeploymentFacts): Promise<number> {
  const [row] = await db<[{ attempt: number }]>`
    select coalesce(max(attempt), 1) as attempt
    from deployment_runs
    where org_id = ${org_id}
      and run_id = ${pipeline_run_id}`
  return row.attempt
}

/** The stored rules of an environment; null if they were not read since `readSince`. */
export async function findEnvironmentRules(db: Db, key: EnvironmentKey, readSince: Date) {
  const [row] = await db<{ rules: EnvironmentRules | null }[]>`
    select rules
    from deployment_environments
    where org_id = ${key.org_id}
      and provider = ${key.provider}
      and repository_id = ${key.repository_id}
      and ${buildEnvironmentsEqual(db, [db`name`, db`${key.environment}`], { provider: db`provider` })}
      and read_at > ${readSince}
    order by read_at desc
    limit 1`
  return row?.rules ?? null
}

/** Stores the rules of a locked environment. */
export async function updateEnvironmentRules(tx: Tx, key: EnvironmentKey, rules: EnvironmentRules, at: Date) {
  await tx`
    update deployment_environments
    set rules = ${tx.json(rules)}, read_at = ${at}
    where org_id = ${key.org_id}
      and provider = ${key.provider}
      and repository_id = ${key.repository_id}
      and name = ${key.environment}`
}

const WITHOUT_RULES_MAX = 10_000

/**
 * Deployments of an environment whose rules are unknown, and, if the rules are `known` now, those
 * that have not gone on.
 */
export async function listWithoutRules(db: Db, key: EnvironmentKey, known: boolean): Promise<DeploymentKey[]> {
  return db<DeploymentKey[]>`
    select org_id, id
    from deployments
    where org_id = ${key.org_id}
      and provider = ${key.provider}
      and repository_id = ${key.repository_id}
      and environment = any(${buildEnvironmentNames(db, key)})
      and host_id is not null
      and (
        environment_rules is null
        or (${known} and environment_rules ->> 'is_known' = 'false')
        or (
          ${known}
          and status in ('pending_approval', 'approved', 'in_progress')
          and not exists (
            select
            from deployment_statuses
            where org_id = deployments.org_id
              and deployment_id = deployments.id
              and state in ('in_progress', 'success')
          )
        )
      )
    order by created_at desc, id
    limit ${WITHOUT_RULES_MAX}`
}

/** The host's id of the newest run that waits for an environment; null if there is none. */
export async function findWaitingRun(db: Db, key: EnvironmentKey): Promise<string | null> {
  const [row] = await db<{ host_run_id: string }[]>`
    select host_run_id
    from deployments
    where org_id = ${key.org_id}
      and provider = ${key.provider}
      and repository_id = ${key.repository_id}
      and environment = any(${buildEnvironmentNames(db, key)})
      and host_id is not null
      and host_run_id is not null
      and status in ('pending_approval', 'approved', 'in_progress')
    order by created_at desc, id desc
    limit 1`
  return row?.host_run_id ?? null
}
