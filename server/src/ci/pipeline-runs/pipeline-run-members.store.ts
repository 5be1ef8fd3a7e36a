import { onServerOf } from '../../platform/db/spread.ts'
import type { Db } from '../../platform/db/sql.ts'
import { type AttemptTable, completedAt, statusAt } from '../runs/attempt-deadline.store.ts'

/**
 * SQL: the members of a pipeline run's JSON object that differ from run to run, without the braces.
 * Those that only code hosts provide are read by another query, because it would be set up for
 * pages without such runs, too. They are written one by one, which takes half the time of
 * `row_to_json`; values that occur more than once are converted once.
 */
export function pipelineRunMembers(db: Db, orgId: string, now: Date) {
  return db`(
    select '"id":' || to_json(run.id)
      || ',"provider":' || to_json(run.provider)
      || ',"workflow_name":' || to_json(run.pipeline_name)
      || ',"repository_name":' || to_json(once.repository)
      || ',"repository_full_name":' || to_json(once.full_name)
      || ',"repository_owner_login":' || to_json(left(once.full_name, -length(once.repository) - 1))
      || ',"commit_sha":' || coalesce(to_json(run.commit_sha)::text, 'null')
      || ',"html_url":' || coalesce(to_json(run.url)::text, 'null')
      || ',"event_type":' || once.event
      || ',"run_attempt":' || run.newest_attempt || once.course
      || ',"attempts":[' || ${earlierAttempts(db, orgId, now)}
      || '{"number":' || run.newest_attempt || once.course || ',"triggered_by":' || once.actor || '}]'
      || ',"ci_system":' || coalesce(to_json(run.ci_system)::text, 'null')
      || ',"trust":' || to_json(run.trust)
      || ',"created_at":"' || rfc3339(run.created_at)
      || '","updated_at":"' || rfc3339(run.updated_at) || '"'
      || case when run.provider <> 'other' then '' else ${triggerMembers(db)} end
    from (
      select substr(run.repository, strpos(run.repository, '/') + 1) as full_name,
        split_part(run.repository, '/', -1) as repository,
        to_json(run.event)::text as event,
        ${actor(db, 'run')} as actor,
        ${course(db, 'run', now)} as course
      offset 0 -- keeps the planner from evaluating each expression wherever it is used
    ) once
  )`
}

/** The members that code hosts describe in more detail, after a comma. */
function triggerMembers(db: Db) {
  return db`
    ',"trigger":{"event":' || coalesce(${claimedEvent(db)}, once.event) || ',"kind":' || once.event || ',"actor":' || once.actor
      || ',"pull_request":null,"merged_pull_request":null},"actor_login":' || once.actor`
}

/** The event as the CI system names it, if a token has told. */
function claimedEvent(db: Db) {
  return db`to_json(coalesce(run.claims ->> 'event_name', run.claims ->> 'pipeline_source'))::text`
}

/** The earlier attempts, each followed by a comma. Runs with a single attempt skip the query. */
function earlierAttempts(db: Db, orgId: string, now: Date) {
  return db`
    case when run.newest_attempt = 1 then '' else coalesce((
      select string_agg(
        '{"number":' || attempt.number || ${course(db, 'attempt', now)}
          || ',"triggered_by":' || ${actor(db, 'attempt')} || '},',
        '' order by attempt.number
      )
      from ci_run_attempts attempt
      where attempt.org_id = run.org_id ${onServerOf(db, 'attempt', orgId)}
        and attempt.run_id = run.id
    ), '') end`
}

/**
 * The members for the status and times of an attempt. A run and its newest attempt have the same
 * ones.
 */
function course(db: Db, table: AttemptTable, now: Date) {
  const [startedAt, endedAt] = [db`${db(table)}.started_at`, completedAt(db, table, now)]
  return db`
    ',"status":"' || ${statusAt(db, table, now)}
      || '","started_at":"' || rfc3339(${startedAt})
      || '","completed_at":' || coalesce('"' || rfc3339(${endedAt}) || '"', 'null')
      || ',"duration_seconds":' || coalesce(floor(extract(epoch from ${endedAt} - ${startedAt}))::bigint::text, 'null')`
}

function actor(db: Db, table: AttemptTable) {
  return db`coalesce(to_json(${db(table)}.actor)::text, 'null')`
}
