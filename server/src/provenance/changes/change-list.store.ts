import { buildPageCondition } from '../../platform/db/page.ts'
import { buildSpreadCondition } from '../../platform/db/spread.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Page, PageRow } from '../../platform/http/lists.ts'
import { DEVIATIONS, type Deviation } from './change-record.ts'

/** Which changes a list contains. Null: all of them. */
export type ChangeSelection = {
  repositories: { provider: string; id: string }[] | null
  branch: string | null
  deviation: Deviation | null
  /** A commit that landed with the change. */
  commit: string | null
}

const CHANGES_OF_COMMIT_MAX = 1000

/**
 * Returns one page of changes, newest first, and one more row when there is a next page. Retention
 * removes the records of the oldest changes, so that a page without some of them is the last one.
 */
export function listChanges(db: Db, orgId: string, page: Page, selection: ChangeSelection) {
  const pick = selection.commit === null ? pickByTime : pickByCommit
  const isLong: ReturnType<Db> = db`link.bytes + amended.bytes > ${LISTED_BYTES_MAX}`
  const omitted: ReturnType<Db> = db`, case when is_long then ${LONG_PARTS}::text[] else '{}' end as omitted`
  return db<PageRow[]>`
    select picked.created_at, picked.id, item.json
    from (${pick(db, orgId, page, selection)}) picked
    cross join lateral (
      select ${itemJson(db, db`change`, { orgId, isLong, omitted })} as json
      from changes change
      where change.org_id = ${orgId}
        and change.id = picked.id
      offset 0
    ) item
    where item.json is not null
    order by picked.created_at desc, picked.id desc`
}

/**
 * Picks the newest changes of each repository and each number that has the deviation: every index
 * has the time as its next column.
 */
function pickByTime(db: Db, orgId: string, page: Page, { repositories, branch, deviation }: ChangeSelection) {
  const isByFacet = repositories !== null || deviation !== null
  const ofRepository = db`
    repository_key(change.org_id, change.provider, change.repository_id)
      = repository_key(${orgId}, repository.provider, repository.id) ${buildSpreadCondition(db, 'change', orgId)}`
  return db`
    select found.created_at, found.id
    from ${repositories === null ? db`(select) as all_repositories` : buildRepositories(db, repositories)}
    cross join ${isByFacet ? buildFacets(db, deviation) : db`(select) as all_facets`}
    cross join lateral (
      select change.created_at, change.id
      from changes change
      where ${repositories === null ? db`change.org_id = ${orgId}` : ofRepository}
        ${branch === null ? db`` : db`and change.branch = ${branch}`}
        ${isByFacet ? db`and change.facet = facet.no` : db``}
        ${deviation === null ? db`` : db`and change.facet > 0`}
        and ${buildPageCondition(db, page, db`change`)}
      order by change.created_at desc, change.id desc
      limit ${page.limit + 1}
    ) found
    order by found.created_at desc, found.id desc
    limit ${page.limit + 1}`
}

/** A commit lands with few changes, so that they are looked up one by one. */
function pickByCommit(db: Db, orgId: string, page: Page, { commit, ...filters }: ChangeSelection) {
  const { repositories, branch, deviation } = filters
  return db`
    select change.created_at, change.id
    from (
      select change_id
      from change_commits
      where org_id = ${orgId}
        and sha = ${commit}
      order by change_id desc
      limit ${CHANGES_OF_COMMIT_MAX}
    ) listed
    cross join lateral (
      select change.*
      from changes change
      where change.org_id = ${orgId}
        and change.id = listed.change_id
      offset 0
    ) change
    where ${buildPageCondition(db, page, db`change`)}
      ${repositories === null ? db`` : db`and (change.provider, change.repository_id) in (select provider, id from ${buildRepositories(db, repositories)})`}
      ${branch === null ? db`` : db`and change.branch = ${branch}`}
      ${deviation === null ? db`` : db`and ${deviation} = any(change.deviations)`}
    order by change.created_at desc, change.id desc
    limit ${page.limit + 1}`
}

function buildRepositories(db: Db, repositories: { provider: string; id: string }[]) {
  const providers = repositories.map(({ provider }) => provider)
  const ids = repositories.map(({ id }) => id)
  return db`unnest(${providers}::text[], ${ids}::text[]) as repository (provider, id)`
}

/** The numbers of `deviation_facet` that have a deviation, or all of them. */
function buildFacets(db: Db, deviation: Deviation | null) {
  const all = Array.from({ length: 1 << DEVIATIONS.length }, (_, facet) => facet)
  const facets = deviation === null ? all : all.filter((facet) => facet & (1 << DEVIATIONS.indexOf(deviation)))
  return db`unnest(${facets}::smallint[]) as facet (no)`
}

/** Returns the change as JSON text, or null if there is none that landed at or after `since`. */
export async function findChangeJson(db: Db, orgId: string, id: string, since: Date): Promise<string | null> {
  const [row] = await db<{ json: string | null }[]>`
    select ${itemJson(db, db`change`, { orgId, isLong: db`false`, omitted: db`` })} as json
    from changes change
    where change.org_id = ${orgId}
      and change.id = ${id}
      and change.created_at >= ${since}`
  return row?.json ?? null
}

/** A longer change is listed without its long parts, so that a page has at most about 2 MiB. */
const LISTED_BYTES_MAX = 16_384
const LONG_PARTS = ['commits.list', 'reviews', 'checks', 'runs', 'code_owners.rules', 'amendments']
const AMENDMENTS_MAX = 1000

type Parts = { orgId: string; isLong: ReturnType<Db>; omitted: ReturnType<Db> }

/**
 * A row of `changes` as JSON text. Null if retention has removed its record. `omitted` adds a
 * column that names the parts that are left out of a long change. The parts of a record are copied
 * as text.
 */
function itemJson(db: Db, change: ReturnType<Db>, parts: Parts) {
  return db`(
    select row_to_json(item)::text
    from (
      select record.version, record.id, record.repository, record.branch, record.landed_by, record.landed_at,
        ${commitsJson(db)} as commits, record.pull_request, record.pusher, record.forced,
        ${unlessLong(db, 'reviews')}, record.branch_rules, ${unlessLong(db, 'checks')}, ${unlessLong(db, 'runs')},
        ${codeOwnersJson(db)} as code_owners, record.security, ${change}.deviations,
        record.deviations as recorded_deviations,
        case when is_long then '[]' else amended.amendments end as amendments, link.chain,
        rfc3339(${change}.created_at) as created_at, rfc3339(${change}.recorded_at) as recorded_at ${parts.omitted}
      from (${buildRecord(db, parts.orgId, change)}) link
      cross join lateral json_to_record(link.body) as record (
        version json, id json, repository json, branch json, landed_by json, landed_at json, commits json,
        pull_request json, pusher json, forced json, reviews json, branch_rules json, checks json, runs json,
        code_owners json, security json, deviations json
      )
      cross join lateral (${buildAmendments(db, parts.orgId, change)}) amended
      cross join lateral (select ${parts.isLong} as is_long) size
    ) item
  )`
}

function buildRecord(db: Db, orgId: string, change: ReturnType<Db>) {
  return db`
    select link.body::json as body, octet_length(link.body) as bytes, ${chainJson(db)} as chain
    from chain_links link
    where link.org_id = ${change}.org_id ${buildSpreadCondition(db, 'link', orgId)}
      and link.provider = ${change}.provider
      and link.repository_id = ${change}.repository_id
      and link.index = ${change}.link_index
      and link.body is not null`
}

/** The amendments, which are the links of the change after its record, oldest first. */
function buildAmendments(db: Db, orgId: string, change: ReturnType<Db>) {
  return db`
    select coalesce(json_agg(
        json_build_object(
          'kind', body -> 'kind', 'at', body -> 'at', 'facts', body -> 'facts', 'chain', chain
        )
        order by index
      ), '[]') as amendments, coalesce(sum(bytes), 0) as bytes
    from (
      select link.index, link.body::json as body, octet_length(link.body) as bytes, ${chainJson(db)} as chain
      from chain_links link
      where link.org_id = ${change}.org_id ${buildSpreadCondition(db, 'link', orgId)}
        and link.change_id = ${change}.id
        and link.index > ${change}.link_index
        and link.body is not null
      order by link.index
      limit ${AMENDMENTS_MAX}
    ) amendment`
}

function chainJson(db: Db) {
  return db`json_build_object(
    'index', link.index, 'hash', encode(link.hash, 'hex'), 'previous_hash', encode(link.previous_hash, 'hex')
  )`
}

function unlessLong(db: Db, part: string) {
  return db`case when is_long then '[]' else record.${db(part)} end as ${db(part)}`
}

function commitsJson(db: Db) {
  return db`
    case when is_long then json_build_object(
      'head', record.commits -> 'head', 'base', record.commits -> 'base', 'merge', record.commits -> 'merge',
      'list', json_build_array(), 'complete', record.commits -> 'complete'
    ) else record.commits end`
}

function codeOwnersJson(db: Db) {
  return db`
    case when is_long and json_typeof(record.code_owners) = 'object' then json_build_object(
      'path', record.code_owners -> 'path', 'commit_sha', record.code_owners -> 'commit_sha',
      'rules', json_build_array()
    ) else record.code_owners end`
}

/** The ids of the changes that landed last. */
export async function listNewestChanges(db: Db, orgId: string, limit: number): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select id
    from changes
    where org_id = ${orgId}
    order by created_at desc, id desc
    limit ${limit}`
  return rows.map(({ id }) => id)
}
