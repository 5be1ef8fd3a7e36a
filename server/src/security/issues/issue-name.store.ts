import { buildTimedIdsCondition } from '../../platform/db/page.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Page } from '../../platform/http/lists.ts'
import { buildProviderCondition } from '../repositories/reported-repository.store.ts'
import { toSeverityRank } from '../vocabulary/severity.ts'
import { type IssueSelection, isUrgent } from './issue-facet.store.ts'

/**
 * Selects the ids of one page of the issues of a vulnerability or a package. All of them are read
 * by an index and sorted: even a vulnerability that every repository has is in few issues.
 */
export function buildPageByName(db: Db, orgId: string, page: Page, selection: IssueSelection) {
  const { provider, sort } = selection
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
        and ${buildTimedIdsCondition(db, sort === 'newest' ? page : { ...page, after: null }, db`issue`)}
    ) named
    ${sort === 'newest' || page.after === null ? db`` : afterPosition(db, page.after)}
    order by sort_value desc, id desc
    limit ${page.limit + 1}`
}

function afterPosition(db: Db, { sort_value, id }: NonNullable<Page['after']>) {
  return db`where (sort_value, id) < (${sort_value ?? 0}::real, ${id}::uuid)`
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
