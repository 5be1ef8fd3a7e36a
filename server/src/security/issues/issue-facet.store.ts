import type { Db } from '../../platform/db/sql.ts'
import type { Page } from '../../platform/http/lists.ts'
import { buildProviderCondition } from '../repositories/reported-repository.store.ts'
import type { RepositorySelection } from '../repositories/select-repositories.ts'
import { FINDING_KINDS, type FindingKind, ISSUE_STATUSES, type IssueStatus } from '../vocabulary/finding.ts'
import { SEVERITIES, type Severity, toSeverityRank } from '../vocabulary/severity.ts'
import type { IssueSort } from './issue.schema.ts'
import { buildOrders, type Order } from './issue-order.store.ts'

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
