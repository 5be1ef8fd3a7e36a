import { randomUUID } from 'node:crypto'
import type { Sql } from '../src/platform/db/sql.ts'
import type { Json } from '../test/support/json.ts'

export async function createRunTable(sql: Sql): Promise<void> {
  await sql`
    create table if not exists bare_runs (
      id uuid primary key,
      ci_system text not null,
      ci_system_name text,
      external_run_id text not null,
      attempt integer not null,
      repository text not null,
      commit_sha text not null,
      ref text,
      pipeline_name text not null,
      url text,
      status text not null,
      started_at timestamptz not null,
      actor text,
      event text not null,
      timeout_minutes integer not null,
      created_at timestamptz not null
    )`
}

/** One INSERT of one row with the facts of a run, which is also the answer. */
export async function insertRun(sql: Sql, body: Record<string, Json>) {
  const run = { id: randomUUID(), ...body, created_at: new Date() } as Record<string, Json>
  await sql`
    insert into bare_runs (
      id, ci_system, ci_system_name, external_run_id, attempt, repository, commit_sha, ref, pipeline_name, url, status,
      started_at, actor, event, timeout_minutes, created_at
    )
    values (
      ${run.id}, ${run.ci_system}, ${run.ci_system_name}, ${run.external_run_id}, ${run.attempt}, ${run.repository},
      ${run.commit_sha}, ${run.ref}, ${run.pipeline_name}, ${run.url}, ${run.status}, ${run.started_at}, ${run.actor},
      ${run.event}, ${run.timeout_minutes}, ${run.created_at}
    )`
  return run
}

/** The newest 100 runs: rows, then objects of the form that GET /v1/runs answers. */
export async function listRuns(sql: Sql, orgId: string) {
  const rows = await sql`
    select run.id, run.provider, run.pipeline_name, run.status, run.repository, run.ref, run.commit_sha, run.event,
      run.started_at, run.completed_at, run.url, run.newest_attempt, run.actor, run.ci_system, run.trust,
      run.created_at, run.updated_at,
      case when run.newest_attempt > 1 then (
        select json_agg(attempt order by number)
        from ci_run_attempts attempt
        where org_id = run.org_id
          and run_id = run.id
      ) end as earlier_attempts
    from ci_runs run
    where run.org_id = ${orgId}
    order by run.created_at desc, run.id desc
    limit 100`
  return rows.map(toPipelineRun)
}

function toPipelineRun(row: Record<string, Json>) {
  const [, owner, ...names] = row.repository.split('/')
  const name = names.join('/')
  return {
    id: row.id,
    provider: row.provider,
    sso_organization_id: null,
    github_run_id: null,
    workflow_name: row.pipeline_name,
    workflow_path: null,
    status: row.status,
    repository_id: null,
    repository_name: name,
    repository_full_name: `${owner}/${name}`,
    repository_owner_id: null,
    repository_owner_login: owner,
    branch: row.ref.replace(/^refs\/(heads|tags)\//, ''),
    commit_sha: row.commit_sha,
    commit_message: null,
    release_name: null,
    author_id: null,
    author_login: null,
    author_avatar_url: null,
    event_type: row.event,
    started_at: row.started_at,
    completed_at: row.completed_at,
    duration_seconds: durationSeconds(row.started_at, row.completed_at),
    html_url: row.url,
    job_dependencies: {},
    run_number: null,
    run_attempt: row.newest_attempt,
    attempts: [...(row.earlier_attempts ?? []), { ...row, number: row.newest_attempt }].map(toAttempt),
    trigger: { event: row.event, kind: row.event, actor: row.actor, pull_request: null, merged_pull_request: null },
    actor_login: row.actor,
    actor_name: null,
    actor_avatar_url: null,
    actor_url: null,
    importance_score: null,
    anomaly_reasons: [],
    failure_category: null,
    failure_excerpt: null,
    failure_recurrence: null,
    azure: null,
    ci_system: row.ci_system,
    trust: row.trust,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}

function toAttempt(row: Record<string, Json>) {
  const startedAt = new Date(row.started_at)
  const completedAt = row.completed_at && new Date(row.completed_at)
  return {
    number: row.number,
    status: row.status,
    started_at: startedAt,
    completed_at: completedAt,
    duration_seconds: durationSeconds(startedAt, completedAt),
    triggered_by: row.actor,
  }
}

function durationSeconds(startedAt: Date, completedAt: Date | null): number | null {
  return completedAt && Math.floor((completedAt.getTime() - startedAt.getTime()) / 1000)
}
