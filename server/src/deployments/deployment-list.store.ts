import { buildAttemptRepository } from '../ci/runs/run.store.ts'
import { buildPageCondition } from '../platform/db/page.ts'
import type { Db } from '../platform/db/sql.ts'
import type { Page, PageRow } from '../platform/http/lists.ts'
import { compareTexts } from '../platform/text.ts'
import { isSameEnvironment } from '../repositories/repository-identity.ts'
import type { BoardCell, BoardDeployment } from './board.schema.ts'
import type { DeploymentStatus } from './deployment.schema.ts'
import { OWN_RULE } from './deployment-state.ts'
import { buildIsOpenDeployment } from './expired-deployment.store.ts'
import { buildIsLive, buildLive, buildLiveDeployments } from './live-deployment.store.ts'

/** Values that the columns of a deployment must equal. */
export type DeploymentFilter = {
  status?: DeploymentStatus | undefined
  environment?: string | undefined
  repository_full_name?: string | undefined
  workflow_name?: string | undefined
  workflow_path?: string | undefined
  pipeline_run_id?: string | undefined
  commit_sha?: string | undefined
  /** Whether it runs now. */
  live?: boolean | undefined
}

/** Returns one page of deployments, newest first, and one more row when there is a next page. */
export function listDeployments(
  db: Db,
  orgId: string,
  page: Page,
  { filter, recovered, now }: { filter: DeploymentFilter; recovered?: boolean | undefined; now: Date },
) {
  return db<PageRow[]>`
    select deployment.created_at, deployment.id, ${deploymentJson(db, now)} as json
    from deployments deployment
    where deployment.org_id = ${orgId}
      and ${buildPageCondition(db, page, db`deployment`, buildIsOpenDeployment(db, db`deployment`, page.since))}
      ${hasStatus(db, filter.status, now)}
      ${equals(db, 'environment', filter)}
      ${equals(db, 'repository_full_name', filter)}
      ${equals(db, 'workflow_name', filter)}
      ${equals(db, 'workflow_path', filter)}
      ${equals(db, 'pipeline_run_id', filter)}
      ${equals(db, 'commit_sha', filter)}
      ${recovered === undefined ? db`` : db`and ${hasRecovered(db)} = ${recovered}`}
      ${filter.live === undefined ? db`` : db`and ${buildIsLive(db, 'deployment')} = ${filter.live}`}
    order by deployment.created_at desc, deployment.id desc
    limit ${page.limit + 1}`
}

function hasRecovered(db: Db) {
  return db`exists (
    select from deployments later
    where later.org_id = deployment.org_id
      and later.repository_full_name = deployment.repository_full_name
      and later.environment = deployment.environment
      and later.provider is not distinct from deployment.provider
      and later.created_at > deployment.created_at
      and (later.status = 'success' or later.succeeded_at is not null)
  )`
}

/** Where a deployment goes. `address` is `host/owner/name`, or `owner/name` if its run is gone. */
export type Place = { environment: string; address: string; provider: string | null }

/** SQL: the columns of `Place` for a deployment. */
export function buildPlaceColumns(db: Db, orgId: string, alias: string) {
  const of = db(alias)
  return db`${of}.environment, ${of}.provider, coalesce(
    ${of}.host || '/' || ${of}.repository_full_name, ${buildAttemptRepository(db, orgId, alias)}, ${of}.repository_full_name
  ) as address`
}

/** The places of some deployments. */
export async function listPlaces(db: Db, orgId: string, ids: readonly string[]): Promise<(Place & { id: string })[]> {
  return db<(Place & { id: string })[]>`
    select deployment.id, ${buildPlaceColumns(db, orgId, 'deployment')}
    from deployments deployment
    where deployment.org_id = ${orgId}
      and deployment.id = any(${[...ids]})
    limit ${ids.length}`
}

/** An overdue deployment counts as expired even before `deployments.settle` has updated it. */
function hasStatus(db: Db, status: DeploymentStatus | undefined, now: Date) {
  if (status === undefined) return db``
  if (status === 'expired') return db`and (deployment.status = 'expired' or ${isOverdue(db, now)})`
  const still = status === 'pending_approval' ? db`and not ${isOverdue(db, now)}` : db``
  return db`and deployment.status = ${status} ${still}`
}

/** SQL: true if a deployment was not answered in time, settled or not. */
export function isOverdue(db: Db, now: Date, alias = 'deployment') {
  const of = db(alias)
  return db`(${of}.answer_until is not null and ${of}.answer_until <= ${now})`
}

function equals(db: Db, column: Exclude<keyof DeploymentFilter, 'status' | 'live'>, filter: DeploymentFilter) {
  const value = filter[column]
  return value === undefined ? db`` : db`and deployment.${db(column)} = ${value}`
}

/**
 * Returns the deployment as JSON text, or null when there is none that was open at or after
 * `retainedSince`.
 */
export async function findDeployment(
  db: Db,
  orgId: string,
  id: string,
  { retainedSince, now }: { retainedSince: Date; now: Date },
): Promise<string | null> {
  const [row] = await db<{ json: string }[]>`
    select ${deploymentJson(db, now)} as json
    from deployments deployment
    where deployment.org_id = ${orgId}
      and deployment.id = ${id}
      and (deployment.created_at >= ${retainedSince} or ${buildIsOpenDeployment(db, db`deployment`, retainedSince)})`
  return row?.json ?? null
}

function deploymentJson(db: Db, now: Date) {
  return db`(
    select left(row_to_json(item)::text, -1)
      || case when deployment.marks = '[]' then '' else ',"marks":' || deployment.marks::text end || '}'
    from (
      select deployment.id, deployment.org_id, deployment.repository, deployment.repository_full_name,
        deployment.environment, ${unlessOverdue(db, 'status', 'expired', now)}, deployment.workflow_name, deployment.workflow_path,
        deployment.provider, deployment.github_run_id, deployment.branch, deployment.commit_sha,
        deployment.commit_message, deployment.release_name, deployment.author, deployment.author_avatar_url,
        deployment.version, deployment.required_reviewers, deployment.required_reviewer_teams,
        deployment.pipeline_run_id, rfc3339(deployment.deployed_at) as deployed_at,
        rfc3339(deployment.rollback_at) as rollback_at, deployment.callback_url, deployment.html_url,
        deployment.job_id, deployment.environment_url, deployment.protection_rule_type,
        deployment.protection_rule_types, deployment.gated, deployment.reviewers_state,
        ${unlessOverdue(db, 'custom_rule_state', 'expired', now)},
        ${unlessOverdue(db, 'custom_rule_awaiting', null, now)}, ${buildAwaiting(db, now)} as awaiting, deployment.attempt,
        deployment.previous_attempt_id, deployment.superseded_by_id, rfc3339(deployment.created_at) as created_at,
        rfc3339(deployment.updated_at) as updated_at, deployment.reviews, deployment.approvals,
        deployment.external_custom_rules, deployment.bypass, deployment.override, deployment.self_approved,
        deployment.policy_evaluation, ${buildLive(db, 'deployment')} as live
    ) item
  )`
}

/** SQL: what a deployment waits for. A gate that a CI system opened waits for answers only. */
function buildAwaiting(db: Db, now: Date) {
  return db`case
    when deployment.status <> 'pending_approval' or ${isOverdue(db, now)} then '{}'
    else coalesce(
      deployment.awaiting,
      array_remove(
        array[
          case when deployment.custom_rule_state = 'pending' then ${OWN_RULE} end,
          case when deployment.reviewers_state = 'pending' then 'required_reviewers' end
        ],
        null
      )
    )
  end`
}

function unlessOverdue(db: Db, column: string, overdue: string | null, now: Date) {
  return db`case when ${isOverdue(db, now)} then ${overdue} else deployment.${db(column)} end as ${db(column)}`
}

const CELLS_MAX = 4000
const WAITING_MAX = 200
const BESIDE_MAX = 20
const MESSAGE_CHARS_MAX = 200

type BoardFilter = {
  retainedSince: Date
  /** Part of a repository's name, in any case. */
  search: string | undefined
  now: Date
}

/**
 * The repositories and environments of an organization, by name, with what runs there, however old
 * it is. Each step finds the next place in the index, and then one row of it, however many
 * deployments it has.
 */
export async function listBoardCells(
  db: Db,
  orgId: string,
  filter: BoardFilter,
): Promise<{ cells: BoardCell[]; truncated: boolean }> {
  const { now } = filter
  const cells = await db<(BoardCell & Omit<Place, 'environment'>)[]>`
    with recursive place as (${buildPlaces(db, orgId)}),
    live as (
      select deployment.repository_full_name, deployment.environment,
        json_agg(${boardJson(db, 'deployment', now)} order by deployment.since desc, deployment.id desc) as running,
        array_agg(deployment.id) as ids
      from (${buildLiveDeployments(db, orgId)}) deployment
      group by deployment.repository_full_name, deployment.environment
    )
    select cell.repository_full_name, ${buildPlaceColumns(db, orgId, 'shown')}, live.running -> 0 as running,
      case when latest.id = any(live.ids) then null else ${boardJson(db, 'latest', now)} end as newer,
      coalesce((
        select json_agg(item.value)
        from json_array_elements(live.running) with ordinality item (value, at)
        where item.at between 2 and ${BESIDE_MAX + 1}
      ), '[]') as beside
    from (
      select repository_full_name, environment
      from place
      where ${matches(db, 'place', filter)}
      limit ${CELLS_MAX + 1}
    ) cell
    left join lateral (
      select deployment.*
      from deployments deployment
      where deployment.org_id = ${orgId}
        and deployment.repository_full_name = cell.repository_full_name
        and deployment.environment = cell.environment
        and (
          deployment.created_at >= ${filter.retainedSince}
          or ${buildIsOpenDeployment(db, db`deployment`, filter.retainedSince)}
        )
      order by deployment.created_at desc, deployment.id desc
      limit 1
    ) latest on true
    left join live on live.repository_full_name = cell.repository_full_name and live.environment = cell.environment
    cross join lateral (
      select deployment.*
      from deployments deployment
      where deployment.org_id = ${orgId}
        and deployment.id = coalesce(latest.id, live.ids[1])
    ) shown
    order by cell.repository_full_name, cell.environment`
  return { cells: mergeSpellings(cells.slice(0, CELLS_MAX)), truncated: cells.length > CELLS_MAX }
}

/** Where the host has no case, all spellings of an environment are one cell: its newest. */
function mergeSpellings(cells: (BoardCell & Omit<Place, 'environment'>)[]): BoardCell[] {
  const groups = Map.groupBy(cells, (cell) => `${cell.repository_full_name} ${cell.environment.toLowerCase()}`)
  return [...groups.values()].flatMap((spellings) => {
    const own = spellings.map(({ provider: _, address: __, ...cell }) => cell)
    const [{ provider, environment, address }] = spellings as [(typeof spellings)[number]]
    const isOne = own.every((cell) => isSameEnvironment(provider, environment, cell.environment, address))
    const latest = findNewest(own.map(({ newer, running }) => newer ?? running))
    if (own.length === 1 || !isOne || latest === null) return own
    const [running = null, ...beside] = own
      .flatMap((cell) => [cell.running, ...cell.beside])
      .filter((each) => each !== null)
      .toSorted((a, b) => compareTexts(b.deployed_at ?? '', a.deployed_at ?? '') || compareTexts(b.id, a.id))
    const newer = [running, ...beside].some((each) => each?.id === latest.id) ? null : latest
    const { repository_full_name } = latest
    return [
      { repository_full_name, environment: latest.environment, running, newer, beside: beside.slice(0, BESIDE_MAX) },
    ]
  })
}

function findNewest(deployments: (BoardDeployment | null)[]): BoardDeployment | null {
  return deployments.reduce((newest, each) => {
    if (newest === null || each === null) return newest ?? each
    return [each.created_at, each.id].join() > [newest.created_at, newest.id].join() ? each : newest
  }, null)
}

/** SQL: each repository with each environment of its deployments, for `with recursive place`. */
export function buildPlaces(db: Db, orgId: string) {
  return db`
    (${firstPlace(db, orgId, db``)})
    union all
    select next.repository_full_name, next.environment
    from place
    cross join lateral (
      ${firstPlace(db, orgId, db`and (repository_full_name, environment) > (place.repository_full_name, place.environment)`)}
    ) next`
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

/** The deployments that wait for somebody, longest waiting first. */
export async function listWaitingOnBoard(db: Db, orgId: string, filter: BoardFilter): Promise<BoardDeployment[]> {
  const rows = await db<{ json: BoardDeployment }[]>`
    select ${boardJson(db, 'deployment', filter.now)} as json
    from deployments deployment
    where deployment.org_id = ${orgId}
      and deployment.status = 'pending_approval'
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

/** The ids of the newest successful deployments of a code host to an environment. */
export async function listNewestSuccesses(
  db: Db,
  orgId: string,
  { environment, limit }: { environment: string; limit: number },
): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select id
    from deployments
    where org_id = ${orgId}
      and environment = ${environment}
      and status = 'success'
      and host_id is not null
    order by created_at desc, id desc
    limit ${limit}`
  return rows.map(({ id }) => id)
}
