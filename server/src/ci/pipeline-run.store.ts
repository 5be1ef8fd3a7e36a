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

/** Facts that a self-reported run does not have: null or empty (specification, "Pipeline run"). */
const ABSENT = {
  sso_organization_id: null,
  github_run_id: null,
  workflow_path: null,
  repository_id: null,
  repository_owner_id: null,
  commit_message: null,
  release_name: null,
  author_id: null,
  author_login: null,
  author_avatar_url: null,
  job_dependencies: {},
  run_number: null,
  actor_name: null,
  actor_avatar_url: null,
  actor_url: null,
  importance_score: null,
  anomaly_reasons: [],
  failure_category: null,
  failure_excerpt: null,
  failure_recurrence: null,
  azure: null,
}
const ABSENT_MEMBERS = `,${JSON.stringify(ABSENT).slice(1)}`

/** PostgreSQL pays for every column of every row that it turns into JSON, so what never differs is added as text. */
function pipelineRunJson(db: Db, now: Date) {
  return db`(
    select left(row_to_json(item)::text, -1) || ${ABSENT_MEMBERS}
    from (
      select run.id, run.provider, run.pipeline_name as workflow_name, ${attemptStatus(db, now)} as status,
        name.repository as repository_name, name.full as repository_full_name,
        left(name.full, -length(name.repository) - 1) as repository_owner_login, ${branch(db)} as branch,
        run.commit_sha, run.event as event_type, rfc3339(attempt.started_at) as started_at,
        rfc3339(${attemptCompletedAt(db, now)}) as completed_at, ${durationSeconds(db, now)} as duration_seconds,
        attempt.url as html_url, attempt.number as run_attempt,
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
        attempt.actor as actor_login, run.ci_system, run.trust,
        rfc3339(run.created_at) as created_at, rfc3339(run.updated_at) as updated_at
      from (
        select substr(run.repository, strpos(run.repository, '/') + 1) as full,
          split_part(run.repository, '/', -1) as repository
      ) name
    ) item
  )`
}

function branch(db: Db) {
  return db`
    case
      when run.ref like 'refs/heads/%' then substr(run.ref, 12)
      when run.ref like 'refs/tags/%' then substr(run.ref, 11)
      else run.ref
    end`
}

function durationSeconds(db: Db, now: Date) {
  return db`floor(extract(epoch from ${attemptCompletedAt(db, now)} - attempt.started_at))::bigint`
}
