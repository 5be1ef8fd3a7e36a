import { buildTimedIdsCondition, getTimedIdRange } from '../../platform/db/page.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Page } from '../../platform/http/lists.ts'
import type { IssueSort } from './issue.schema.ts'

type Expression = ReturnType<typeof byAge>

/**
 * A part of a sort order, within each facet. `facet`, `issue` and `found` are aliases in
 * `buildPageByFacet`. Facet and position are compared and sorted as one row, although the
 * facet is constant: only the indexes by facet have this order, so the planner needs no statistics
 * to choose them.
 */
export type Order = {
  /**
   * Contains `true` if the part has issues with an EPSS score, and `false` if it has issues without
   * one.
   */
  scored: boolean[]
  sortValue: Expression
  /** True for issues of the facet, in the window and after the previous page. */
  condition: Expression
  order: Expression
}

/**
 * The parts of a sorted list, each of which an index has in order. Of equal issues the newest is
 * first.
 */
export function buildOrders(db: Db, sort: IssueSort, page: Page): Order[] {
  const { after } = page
  const order = byAge(db)
  if (sort === 'newest') {
    return [{ scored: [true, false], sortValue: db`null::real`, condition: isOlder(db, page), order }]
  }
  if (sort === 'severity') {
    return [{ scored: [true, false], sortValue: db`facet.severity::real`, condition: isMilder(db, page), order }]
  }
  const isAmongScored = after === null || (after.sort_value ?? 0) > 0
  const scored = {
    scored: isAmongScored ? [true] : [],
    sortValue: db`found.epss`,
    condition: isLessProbable(db, page),
    order: db`issue.facet desc, issue.epss desc, issue.id desc`,
  }
  const unscored = {
    scored: [false],
    sortValue: db`0::real`,
    condition: isOlder(db, isAmongScored ? firstPage(page) : page),
    order,
  }
  return [scored, unscored]
}

function firstPage(page: Page): Page {
  return { ...page, after: null }
}

function byAge(db: Db) {
  return db`issue.facet desc, issue.id desc`
}

function isOlder(db: Db, page: Page) {
  const { from, before } = getTimedIdRange(page)
  return isBetween(db, from, db`${before}::uuid`)
}

/**
 * True for issues of a lower severity than the last row, and for older ones of the same severity.
 */
function isMilder(db: Db, page: Page) {
  const { from, before } = getTimedIdRange(page)
  if (page.after === null) return isBetween(db, from, db`${before}::uuid`)
  const { before: end } = getTimedIdRange(firstPage(page))
  const severity = db`${page.after.sort_value ?? 0}::smallint`
  const last: Expression = db`case when facet.severity = ${severity} then ${before}::uuid else ${end}::uuid end`
  return db`facet.severity <= ${severity} and ${isBetween(db, from, last)}`
}

function isBetween(db: Db, from: string, before: Expression) {
  return db`
    (issue.facet, issue.id) >= (facet.no, ${from}::uuid)
    and (issue.facet, issue.id) < (facet.no, ${before})`
}

const HIGHEST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

function isLessProbable(db: Db, page: Page) {
  const [epss, id] = page.after === null ? [1, HIGHEST_ID] : [page.after.sort_value ?? 0, page.after.id]
  return db`
    issue.epss > 0
    and (issue.facet, issue.epss, issue.id) > (facet.no, 0::real, ${HIGHEST_ID}::uuid)
    and (issue.facet, issue.epss, issue.id) < (facet.no, ${epss}::real, ${id}::uuid)
    and ${buildTimedIdsCondition(db, firstPage(page), db`issue`)}`
}
