import { buildSpreadCondition } from '../../platform/db/spread.ts'
import type { Db } from '../../platform/db/sql.ts'

/** Findings of an organization with ids from `from` up to but not including `before`. */
export type IdRange = { orgId: string; from: string; before: string }

type Expression = ReturnType<typeof buildNoCondition>

/** The findings with one number in the column `by`. `condition` is a further one on `finding`. */
type List = IdRange & { by: 'facet' | 'stream_id'; condition: Expression }

/** `lists` is a table named `list` that has the numbers in its column `no`. */
type Lists = List & { lists: Expression; limit: number }

/** No further condition. */
export function buildNoCondition(db: Db) {
  return db``
}

/** The newest ids of all lists: the newest of each list, and of these the newest. */
function buildNewest(db: Db, { lists, limit, ...list }: Lists, lowest = db`${list.from}::uuid`) {
  return db`
    select found.id
    from ${lists}
    cross join lateral (
      ${buildList(db, list, lowest)}
      limit ${limit}
    ) found
    order by found.id desc
    limit ${limit}`
}

/**
 * The same for many lists, of each of which few findings are read. First it finds an id that no id
 * of the page is below: if 7 lists have their eighth newest finding at or above an id, then 56
 * findings are at or above it.
 */
export function buildNewestOfMany(db: Db, { limit, ...list }: Lists) {
  const nth = Math.ceil(Math.sqrt(limit))
  return db`
    with list as materialized (
      select no
      from ${list.lists}
    ),
    lowest as materialized (
      select found.id
      from list
      cross join lateral (
        ${buildList(db, list)}
        limit 1
        offset ${nth - 1}
      ) found
      order by found.id desc
      limit 1
      offset ${Math.ceil(limit / nth) - 1}
    )
    ${buildNewest(db, { ...list, limit, lists: db`list` }, db`coalesce((select id from lowest), ${list.from}::uuid)`)}`
}

/** The ids of the list with the number `list.no`, newest first. */
export function buildList(db: Db, { orgId, by, from, before, condition }: List, lowest = db`${from}::uuid`) {
  const where = by === 'stream_id' ? inStream : inOrganization
  return db`
    select finding.id
    from findings finding
    where ${where(db, { orgId, column: db`finding.${db(by)}`, lowest, before })}
      ${condition}
    order by finding.${db(by)} desc, finding.id desc`
}

type Range = { orgId: string; column: ReturnType<Db>; lowest: Expression; before: string }

/**
 * Number and id are compared and sorted as one row, although the number is constant: only one index
 * has this order, so the planner needs no statistics to choose it.
 */
function inOrganization(db: Db, { orgId, column, lowest, before }: Range) {
  return db`
    finding.org_id = ${orgId}
    and (${column}, finding.id) >= (list.no, ${lowest})
    and (${column}, finding.id) < (list.no, ${before}::uuid)`
}

/**
 * Several indexes start with organization and stream. A stream belongs to one organization, and
 * without the id of the organization only `findings_by_stream` is usable.
 */
function inStream(db: Db, { orgId, column, lowest, before }: Range) {
  return db`
    ${column} = list.no ${buildSpreadCondition(db, 'finding', orgId)}
    and finding.id >= ${lowest}
    and finding.id < ${before}::uuid`
}
