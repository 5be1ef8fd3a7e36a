import { buildSpreadCondition } from '../../platform/db/spread.ts'
import type { Db } from '../../platform/db/sql.ts'

/** A longer change is listed without its long parts, so that a page has at most about 2 MiB. */
const LISTED_BYTES_MAX = 16_384
const LONG_PARTS = ['commits.list', 'reviews', 'checks', 'runs', 'code_owners.rules', 'amendments']
const AMENDMENTS_MAX = 1000

/** A row of `changes` as JSON text. Null if retention has removed its record. */
export function buildChangeJson(db: Db, orgId: string, change: ReturnType<Db>) {
  return itemJson(db, change, { orgId, isLong: db`false`, omitted: db`` })
}

/** A row of `changes` as JSON text of an item of a list. */
export function buildListedChangeJson(db: Db, orgId: string, change: ReturnType<Db>) {
  const omitted: ReturnType<Db> = db`, case when is_long then ${LONG_PARTS}::text[] else '{}' end as omitted`
  return itemJson(db, change, { orgId, isLong: db`link.bytes + amended.bytes > ${LISTED_BYTES_MAX}`, omitted })
}

type Parts = { orgId: string; isLong: ReturnType<Db>; omitted: ReturnType<Db> }

/**
 * `omitted` adds a column that names the parts that are left out of a long change. The parts of a
 * record are copied as text.
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
