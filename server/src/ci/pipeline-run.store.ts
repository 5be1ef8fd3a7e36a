import { pageOf } from '../platform/db/page.ts'
import type { Db } from '../platform/db/sql.ts'
import type { Page, PageRow } from '../platform/http/lists.ts'
import { attemptCompletedAt, attemptStatus } from './run.store.ts'
import type { RunStatus } from './run-status.ts'

/** One page of runs, newest first, and one row more where there is a next page. */
export async function listPipelineRuns(
  db: Db,
  orgId: string,
  page: Page,
  filter: { status?: RunStatus | undefined },
  now: Date,
): Promise<PageRow[]> {
  const withStatus = filter.status === undefined ? db`` : db`and ${attemptStatus(db, now)} = ${filter.status}`
  return db<PageRow[]>`
    select run.created_at, run.id, ${pipelineRunJson(db, now)} as json
    ${fromNewestAttempt(db)}
    where run.org_id = ${orgId}
      and ${pageOf(db, page, db`run`)}
      ${withStatus}
    order by run.created_at desc, run.id desc
    limit ${page.limit + 1}`
}

/** A run that is not older than `retainedSince`, or null. */
export async function findPipelineRun(db: Db, orgId: string, id: string, retainedSince: Date, now: Date) {
  const [row] = await db<{ json: string }[]>`
    select ${pipelineRunJson(db, now)} as json
    ${fromNewestAttempt(db)}
    where run.org_id = ${orgId}
      and run.id = ${id}
      and run.created_at >= ${retainedSince}`
  return row?.json ?? null
}

function fromNewestAttempt(db: Db) {
  return db`
    from ci_runs run
    join ci_run_attempts attempt
      on attempt.org_id = run.org_id and attempt.run_id = run.id and attempt.number = run.newest_attempt`
}

/** Facts that a self-reported run does not have are null or empty (specification, "Pipeline run"). */
function pipelineRunJson(db: Db, now: Date) {
  return db`(
    select row_to_json(item)::text
    from (
      select run.id, run.provider, null as sso_organization_id, null as github_run_id,
        run.pipeline_name as workflow_name, null as workflow_path, ${attemptStatus(db, now)} as status,
        null as repository_id, name.repository as repository_name, name.full as repository_full_name,
        null as repository_owner_id, left(name.full, -length(name.repository) - 1) as repository_owner_login,
        regexp_replace(run.ref, '^refs/(heads|tags)/', '') as branch, run.commit_sha, null as commit_message,
        null as release_name, null as author_id, null as author_login, null as author_avatar_url,
        run.event as event_type, rfc3339(attempt.started_at) as started_at,
        rfc3339(${attemptCompletedAt(db, now)}) as completed_at, ${durationSeconds(db, now)} as duration_seconds,
        attempt.url as html_url, '{}'::json as job_dependencies, null as run_number, attempt.number as run_attempt,
        (
          select json_agg(json_build_object(
            'number', attempt.number, 'status', ${attemptStatus(db, now)},
            'started_at', rfc3339(attempt.started_at), 'completed_at', rfc3339(${attemptCompletedAt(db, now)}),
            'duration_seconds', ${durationSeconds(db, now)}, 'triggered_by', attempt.actor
          ) order by attempt.number)
          from ci_run_attempts attempt
          where attempt.org_id = run.org_id
            and attempt.run_id = run.id
        ) as attempts,
        json_build_object(
          'event', run.event, 'kind', run.event, 'actor', attempt.actor, 'pull_request', null,
          'merged_pull_request', null
        ) as trigger,
        attempt.actor as actor_login, null as actor_name, null as actor_avatar_url, null as actor_url,
        null as importance_score, '[]'::json as anomaly_reasons, null as failure_category, null as failure_excerpt,
        null as failure_recurrence, null as azure, run.ci_system, run.trust,
        rfc3339(run.created_at) as created_at, rfc3339(run.updated_at) as updated_at
      from (
        select substr(run.repository, strpos(run.repository, '/') + 1) as full,
          substring(run.repository from '[^/]+$') as repository
      ) name
    ) item
  )`
}

function durationSeconds(db: Db, now: Date) {
  return db`floor(extract(epoch from ${attemptCompletedAt(db, now)} - attempt.started_at))::bigint`
}
