import type { Db } from '../../platform/db/sql.ts'

/** Ids from `from` up to but not including `before`. */
export type IdRange = { from: string; before: string }

type Expression = ReturnType<typeof ofOrganization>

/**
 * A list of findings has the same number in a column, which an index has in the order of the ids.
 * `condition` is a further condition on `finding`.
 */
type List = IdRange & { column: Expression; condition: Expression }

export function ofOrganization(db: Db, orgId: string) {
  return db`and finding.org_id = ${orgId}`
}

/** `lists` is a table named `list` with the numbers in its column `no`. */
type Lists = List & { lists: Expression; limit: number }

/** The ids of the newest findings of all lists: the newest of each list, and of these the newest. */
export function newestOf(db: Db, { lists, limit, ...list }: Lists, lowest = db`${list.from}::uuid`) {
  return db`
    select found.id
    from ${lists}
    cross join lateral (
      ${readList(db, list, lowest)}
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
export function newestOfMany(db: Db, { limit, ...list }: Lists) {
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
        ${readList(db, list)}
        limit 1
        offset ${nth - 1}
      ) found
      order by found.id desc
      limit 1
      offset ${Math.ceil(limit / nth) - 1}
    )
    ${newestOf(db, { ...list, limit, lists: db`list` }, db`coalesce((select id from lowest), ${list.from}::uuid)`)}`
}

/**
 * The ids of the list with the number `list.no`, newest first. Number and id are compared and
 * sorted as one row, although the number is constant: only one index has this order, so the planner
 * needs no statistics to choose it.
 */
export function readList(db: Db, { column, from, before, condition }: List, lowest = db`${from}::uuid`) {
  return db`
    select finding.id
    from findings finding
    where (finding.${column}, finding.id) >= (list.no, ${lowest})
      and (finding.${column}, finding.id) < (list.no, ${before}::uuid)
      ${condition}
    order by finding.${column} desc, finding.id desc`
}
