import type { Db } from '../../platform/db/sql.ts'

/**
 * SQL: the members of a verified run that only code hosts provide, without the braces. Null for
 * other runs, which cost nothing more.
 */
export function providerRunMembers(db: Db) {
  return db`
    case when run.trust = 'verified' then (
      select '"github_run_id":' || case run.provider when 'github' then ${number(db, column(db, 'run.external_run_id'))} else 'null' end
        || ',"workflow_path":' || ${text(db, column(db, 'provider_run.workflow_path'))}
        || ',"repository_id":' || ${number(db, column(db, 'provider_run.repository_id'))}
        || ',"repository_owner_id":' || ${number(db, column(db, 'provider_run.repository_owner_id'))}
        || ',"commit_message":' || ${text(db, column(db, 'provider_run.commit_message'))}
        || ',"release_name":' || ${text(db, column(db, 'provider_run.release_name'))}
        || ${author(db)}
        || ',"job_dependencies":' || coalesce(file.job_dependencies::text, '{}')
        || ',"run_number":' || coalesce(provider_run.run_number::text, 'null')
        || ',"trigger":{"event":' || to_json(run.event) || ',"kind":' || to_json(provider_run.trigger_kind)
        || ',"actor":' || ${text(db, column(db, 'provider_run.actor_login'))}
        || ',"pull_request":' || ${pullRequest(db, 'pull_request')}
        || ',"merged_pull_request":' || ${pullRequest(db, 'merged_pull_request')}
        || '},"actor_login":' || ${text(db, column(db, 'provider_run.actor_login'))}
        || ',"actor_name":' || ${text(db, column(db, 'account.name'))}
        || ',"actor_avatar_url":' || ${text(db, column(db, 'provider_run.actor_avatar_url'))}
        || ',"actor_url":' || ${text(db, column(db, 'provider_run.actor_url'))}
        || ',"importance_score":' || coalesce(score.importance_score::text, 'null')
        || ',"anomaly_reasons":' || coalesce(to_json(score.anomaly_reasons)::text, '[]')
        || ${failure(db)}
      from provider_runs provider_run
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
        and run.completed_at is not null
      where provider_run.org_id = run.org_id
        and provider_run.run_id = run.id
    ) end`
}

/** The account of the commit's author, or the actor if the host knows no such account. */
function author(db: Db) {
  const own = db`provider_run.author_login is not null`
  const field = (name: string) => db`
    case when ${own} then ${db(`provider_run.author_${name}`)} else ${db(`provider_run.actor_${name}`)} end`
  return db`
    ',"author_id":' || ${number(db, field('id'))}
      || ',"author_login":' || ${text(db, field('login'))}
      || ',"author_avatar_url":' || ${text(db, field('avatar_url'))}`
}

/** Null unless the newest attempt failed and the failure has been read. */
function failure(db: Db) {
  const failed = db`
    run.status in ('failure', 'timed_out', 'cancelled') and provider_run.failure_attempt = run.newest_attempt`
  return db`
    ',"failure_category":' || ${text(db, db`case when ${failed} then provider_run.failure_category end`)}
      || ',"failure_excerpt":' || ${text(db, db`case when ${failed} then provider_run.failure_excerpt end`)}
      || ',"failure_recurrence":' || coalesce(case when ${failed} then score.failure_recurrence::text end, 'null')`
}

type Fragment = ReturnType<typeof column>

function column(db: Db, name: string) {
  return db`${db(name)}`
}

function pullRequest(db: Db, name: 'pull_request' | 'merged_pull_request') {
  const [number, url] = [column(db, `provider_run.${name}_number`), column(db, `provider_run.${name}_url`)]
  return db`coalesce('{"number":' || ${number} || ',"url":' || ${text(db, url)} || '}', 'null')`
}

function text(db: Db, value: Fragment) {
  return db`coalesce(to_json(${value})::text, 'null')`
}

/** An id as a number. Ids that are not numbers, such as UUIDs, are null. */
function number(db: Db, id: Fragment) {
  return db`coalesce(substring(${id} from '^[0-9]{1,15}$'), 'null')`
}
