import type { Db } from '../../platform/db/sql.ts'
import { isOverdue } from '../deployment.store.ts'
import type { BoardCell, BoardDeployment } from './board.schema.ts'

const CELLS_MAX = 4000
const WAITING_MAX = 200
const MESSAGE_CHARS_MAX = 200

type BoardFilter = {
  retainedSince: Date
  /** Part of a repository's name, in any case. */
  search: string | undefined
  now: Date
}

/**
 * The repositories and environments of an organization, by name, with what runs there. Each step
 * finds the next place in the index, and then two rows of it, however many deployments it has.
 */
export async function listBoardCells(
  db: Db,
  orgId: string,
  filter: BoardFilter,
): Promise<{ cells: BoardCell[]; truncated: boolean }> {
  const { now } = filter
  const cells = await db<BoardCell[]>`
    with recursive place as (
      (${firstPlace(db, orgId, db``)})
      union all
      select next.repository_full_name, next.environment
      from place
      cross join lateral (
        ${firstPlace(db, orgId, db`and (repository_full_name, environment) > (place.repository_full_name, place.environment)`)}
      ) next
    )
    select cell.repository_full_name, cell.environment, ${boardJson(db, 'running', now)} as running,
      case when latest.id is distinct from running.id then ${boardJson(db, 'latest', now)} end as newer
    from (
      select repository_full_name, environment
      from place
      where ${matches(db, 'place', filter)}
      limit ${CELLS_MAX + 1}
    ) cell
    cross join lateral (${buildLatest(db, orgId, filter, db``)}) latest
    left join lateral (
      ${buildLatest(db, orgId, filter, db`and (deployment.status = 'success' or deployment.succeeded_at is not null)`)}
    ) running on true
    order by cell.repository_full_name, cell.environment`
  return { cells: cells.slice(0, CELLS_MAX), truncated: cells.length > CELLS_MAX }
}

function firstPlace(db: Db, orgId: string, after: ReturnType<Db>) {
  return db`
    select repository_full_name, environment
    from deployments
    where org_id = ${orgId}
      ${after}
    order by repository_full_name, environment
    limit 1`
}

function buildLatest(db: Db, orgId: string, { retainedSince }: BoardFilter, condition: ReturnType<Db>) {
  return db`
    select deployment.*
    from deployments deployment
    where deployment.org_id = ${orgId}
      and deployment.repository_full_name = cell.repository_full_name
      and deployment.environment = cell.environment
      and deployment.created_at >= ${retainedSince}
      ${condition}
    order by deployment.created_at desc, deployment.id desc
    limit 1`
}

/** The deployments that wait for somebody, longest waiting first. */
export async function listWaitingOnBoard(db: Db, orgId: string, filter: BoardFilter): Promise<BoardDeployment[]> {
  const rows = await db<{ json: BoardDeployment }[]>`
    select ${boardJson(db, 'deployment', filter.now)} as json
    from deployments deployment
    where deployment.org_id = ${orgId}
      and deployment.status = 'pending_approval'
      and deployment.created_at >= ${filter.retainedSince}
      and not ${isOverdue(db, filter.now)}
      and ${matches(db, 'deployment', filter)}
    order by deployment.created_at, deployment.id
    limit ${WAITING_MAX}`
  return rows.map(({ json }) => json)
}

function matches(db: Db, alias: string, { search }: BoardFilter) {
  if (search === undefined) return db`true`
  return db`strpos(lower(${db(alias)}.repository_full_name), lower(${search})) > 0`
}

/** A deployment of the board as JSON; null if `alias` is an outer join's row of nulls. */
function boardJson(db: Db, alias: string, now: Date) {
  const of = db(alias)
  return db`case when ${of}.id is not null then json_build_object(
    'id', ${of}.id, 'repository_full_name', ${of}.repository_full_name, 'environment', ${of}.environment,
    'status', case when ${isOverdue(db, now, alias)} then 'expired' else ${of}.status end,
    'custom_rule_state', ${of}.custom_rule_state, 'reviewers_state', ${of}.reviewers_state,
    'policy_decision', ${of}.policy_evaluation ->> 'decision', 'bypassed', ${of}.bypass is not null,
    'version', ${of}.version, 'branch', ${of}.branch, 'commit_sha', ${of}.commit_sha,
    'commit_message', left(${of}.commit_message, ${MESSAGE_CHARS_MAX}), 'author', ${of}.author,
    'deployed_at', rfc3339(coalesce(${of}.deployed_at, ${of}.succeeded_at)), 'created_at', rfc3339(${of}.created_at)
  ) end`
}
