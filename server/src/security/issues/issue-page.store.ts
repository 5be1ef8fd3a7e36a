import { buildTimedIdsCondition, getTimedIdRange, hasOpenStart } from '../../platform/db/page.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Page } from '../../platform/http/lists.ts'
import { buildProviderCondition } from '../repositories/reported-repository.store.ts'
import type { RepositorySelection } from '../repositories/select-repository.ts'
import { FINDING_KINDS, type FindingKind, ISSUE_STATUSES, type IssueStatus } from '../vocabulary/finding.ts'
import { SEVERITIES, type Severity, toSeverityRank } from '../vocabulary/severity.ts'
import type { IssueSort } from './issue.schema.ts'

/** The filters of a list of issues, null for none, and the sort order. */
export type IssueSelection = RepositorySelection & {
  severity: Severity | null
  status: IssueStatus | null
  kind: FindingKind | null
  kev: boolean | null
  /** Critical, high, or known to be exploited. */
  urgent: boolean | null
  /** A probability. */
  epssMin: number | null
  /** The ids of one vulnerability. */
  vulnIds: readonly string[] | null
  /** The buckets of a package, as hex. */
  buckets: readonly string[] | null
  sort: IssueSort
}

/**
 * Selects the ids of one page with their sort values. Each combination of the filters with few
 * values is a facet, and an index lists the issues of each facet in order. The first issues of all
 * facets contain the page, so rare filters are as fast as frequent ones.
 */
export function buildPageByFacet(db: Db, orgId: string, page: Page, selection: IssueSelection) {
  const picks = buildOrders(db, selection.sort, page).map(
    (order) => db`(${pickInOrder(db, { orgId, page, selection }, order)})`,
  )
  return db`
    select created_at, id, sort_value
    from (${picks.reduce((all, pick) => db`${all} union all ${pick}`)}) candidate
    order by sort_value desc, id desc
    limit ${page.limit + 1}`
}

type IssueList = { orgId: string; page: Page; selection: IssueSelection }

function pickInOrder(db: Db, { orgId, page, selection }: IssueList, order: Order) {
  const { repositoryNos, provider, epssMin } = selection
  return db`
    select found.created_at, found.id, ${order.sortValue} as sort_value
    from ${buildFacets(db, selection, order.scored)} facet
    ${repositoryNos === null ? db`` : db`cross join unnest(${repositoryNos}::bigint[]) probed (repository_no)`}
    cross join lateral (
      select issue.created_at, issue.id, issue.epss
      from security_issues issue
      where issue.org_id = ${orgId}
        and issue.listed
        ${repositoryNos === null ? db`and issue.facet > 0` : db`and issue.repository_no = probed.repository_no`}
        ${buildProviderCondition(db, orgId, db`issue`, provider)}
        ${epssMin ? db`and issue.epss > 0 and issue.epss >= ${epssMin}::real` : db``}
        and ${order.condition}
      order by ${order.order}
      limit ${page.limit + 1}
    ) found
    order by sort_value desc, found.id desc
    limit ${page.limit + 1}`
}

function buildFacets(db: Db, selection: IssueSelection, scored: boolean[]) {
  const { status, severity, kind, kev, urgent, epssMin } = selection
  return db`(
    select issue_facet(status, severity, kind, kev, scored) as no, severity
    from unnest(${status === null ? ISSUE_STATUSES : [status]}::text[]) status
    cross join unnest(${severity === null ? [...SEVERITIES.keys()] : [toSeverityRank(severity)]}::smallint[]) severity
    cross join unnest(${kind === null ? FINDING_KINDS : [kind]}::text[]) kind
    cross join unnest(${kev === null ? [true, false] : [kev]}::boolean[]) kev
    cross join unnest(${epssMin ? scored.filter((is) => is) : scored}::boolean[]) scored
    ${urgent === null ? db`` : db`where ${isUrgent(db, db`severity`, db`kev`)} = ${urgent}`}
  )`
}

export function isUrgent(db: Db, severity: ReturnType<Db>, kev: ReturnType<Db>) {
  return db`(${severity} >= ${toSeverityRank('high')}::smallint or ${kev})`
}

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
function buildOrders(db: Db, sort: IssueSort, page: Page): Order[] {
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

/** SQL: true for a row `issue` that is not fixed, or was not at `since`. */
export function buildIsOpenSince(db: Db, since: Date): ReturnType<Db> {
  return db`(issue.status <> 'fixed' or issue.updated_at >= ${since})`
}

function isOlder(db: Db, page: Page) {
  return isBetween(db, page, db`${getTimedIdRange(page).before}::uuid`)
}

/**
 * True for issues of a lower severity than the last row, and for older ones of the same severity.
 */
function isMilder(db: Db, page: Page) {
  const { before } = getTimedIdRange(page)
  if (page.after === null) return isBetween(db, page, db`${before}::uuid`)
  const { before: end } = getTimedIdRange(firstPage(page))
  const severity = db`${page.after.sort_value ?? 0}::smallint`
  const last: Expression = db`case when facet.severity = ${severity} then ${before}::uuid else ${end}::uuid end`
  return db`facet.severity <= ${severity} and ${isBetween(db, page, last)}`
}

function isBetween(db: Db, page: Page, before: Expression) {
  const { from } = getTimedIdRange(hasOpenStart(page) ? { ...page, since: new Date(0) } : page)
  return db`
    (issue.facet, issue.id) >= (facet.no, ${from}::uuid)
    and (issue.facet, issue.id) < (facet.no, ${before})
    and ${buildTimedIdsCondition(db, firstPage(page), db`issue`, buildIsOpenSince(db, page.since))}`
}

const HIGHEST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

function isLessProbable(db: Db, page: Page) {
  const [epss, id] = page.after === null ? [1, HIGHEST_ID] : [page.after.sort_value ?? 0, page.after.id]
  return db`
    issue.epss > 0
    and (issue.facet, issue.epss, issue.id) > (facet.no, 0::real, ${HIGHEST_ID}::uuid)
    and (issue.facet, issue.epss, issue.id) < (facet.no, ${epss}::real, ${id}::uuid)
    and ${buildTimedIdsCondition(db, firstPage(page), db`issue`, buildIsOpenSince(db, page.since))}`
}

/**
 * Selects the ids of one page of the issues of a vulnerability or a package. All of them are read
 * by an index and sorted: even a vulnerability that every repository has is in few issues.
 */
export function buildPageByName(db: Db, orgId: string, page: Page, selection: IssueSelection) {
  const { provider, sort } = selection
  const after = sort === 'newest' ? null : page.after
  const value = sort === 'newest' ? db`null::real` : sort === 'severity' ? db`issue.severity::real` : db`issue.epss`
  return db`
    select created_at, id, sort_value
    from (
      select issue.created_at, issue.id, ${value} as sort_value
      from ${namedIssues(db, orgId, selection)}
      where issue.org_id = ${orgId}
        and issue.listed
        ${buildFilters(db, selection)}
        ${buildProviderCondition(db, orgId, db`issue`, provider)}
        and ${buildTimedIdsCondition(db, sort === 'newest' ? page : firstPage(page), db`issue`, buildIsOpenSince(db, page.since))}
    ) named
    ${after === null ? db`` : db`where (sort_value, id) < (${after.sort_value ?? 0}::real, ${after.id}::uuid)`}
    order by sort_value desc, id desc
    limit ${page.limit + 1}`
}

/** Issues that the bucket index finds repository by repository, or those of the vulnerability. */
function namedIssues(db: Db, orgId: string, { buckets, vulnIds, repositoryNos }: IssueSelection) {
  if (buckets === null)
    return db`
      security_issues issue
      join (select 1) of_vulnerability on issue.vuln_ids && ${[...(vulnIds ?? [])]}::text[] and issue.vuln_ids <> '{}'`
  return db`
    reported_repositories repository
    join security_issues issue
      on repository.org_id = ${orgId}
      ${repositoryNos === null ? db`` : db`and repository.id = any(${repositoryNos}::bigint[])`}
      and issue.org_id = repository.org_id
      and issue.repository_no = repository.id
      and issue.merged_into is null
      and issue.bucket in (select decode(hex, 'hex') from unnest(${[...buckets]}::text[]) hex)`
}

function buildFilters(db: Db, selection: IssueSelection) {
  const { repositoryNos, severity, status, kind, kev, urgent, epssMin, vulnIds } = selection
  return db`
    ${repositoryNos === null ? db`` : db`and issue.repository_no = any(${repositoryNos}::bigint[])`}
    ${severity === null ? db`` : db`and issue.severity = ${toSeverityRank(severity)}`}
    ${status === null ? db`` : db`and issue.status = ${status}`}
    ${kind === null ? db`` : db`and issue.kind = ${kind}`}
    ${kev === null ? db`` : db`and issue.kev = ${kev}`}
    ${urgent === null ? db`` : db`and ${isUrgent(db, db`issue.severity`, db`issue.kev`)} = ${urgent}`}
    ${epssMin === null ? db`` : db`and issue.epss >= ${epssMin}::real`}
    ${vulnIds === null ? db`` : db`and issue.vuln_ids && ${[...vulnIds]}::text[]`}`
}
