import type { Db } from '../../platform/db/sql.ts'
import type { Page } from '../../platform/http/lists.ts'
import type { IssueSort } from './issue.schema.ts'

type Expression = ReturnType<typeof byAge>

/**
 * A part of a sort order, within each facet. `facet`, `issue` and `found` are aliases in
 * `pickByFacet`.
 */
export type Order = {
  /**
   * Contains `true` if the part has issues with an EPSS score, and `false` if it has issues without
   * one.
   */
  scored: boolean[]
  sortValue: Expression
  /** True for issues after the previous page. */
  condition: Expression
  order: Expression
}

/** The parts of a sort order. An index holds each part in order. Ties are newest first. */
export function ordersOf(db: Db, sort: IssueSort, { after }: Page): Order[] {
  const order = byAge(db)
  if (sort === 'newest') {
    return [{ scored: [true, false], sortValue: db`null::real`, condition: isOlder(db, after), order }]
  }
  if (sort === 'severity') {
    return [{ scored: [true, false], sortValue: db`facet.severity::real`, condition: isMilder(db, after), order }]
  }
  const isAmongScored = after === null || (after.sort_value ?? 0) > 0
  const scored = {
    ...{ scored: isAmongScored ? [true] : [], sortValue: db`found.epss` },
    ...{ condition: isLessProbable(db, after), order: db`issue.epss desc, ${order}` },
  }
  const unscored = {
    scored: [false],
    sortValue: db`0::real`,
    condition: isOlder(db, isAmongScored ? null : after),
    order,
  }
  return [scored, unscored]
}

function byAge(db: Db) {
  return db`issue.id desc`
}

function isOlder(db: Db, after: Page['after']) {
  return db`${after === null ? db`true` : db`issue.id < ${after.id}`}`
}

/** True for issues of a lower severity, and for older issues of the same severity. */
function isMilder(db: Db, after: Page['after']) {
  if (after === null) return db`true`
  const severity = db`${after.sort_value ?? 0}::smallint`
  return db`
    facet.severity <= ${severity}
    and issue.id < case when facet.severity = ${severity} then ${after.id}::uuid else ${HIGHEST_ID} end`
}

const HIGHEST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

function isLessProbable(db: Db, after: Page['after']) {
  if (after === null) return db`issue.epss > 0`
  return db`issue.epss > 0 and (issue.epss, issue.id) < (${after.sort_value ?? 0}::real, ${after.id}::uuid)`
}
