import type { Db } from '../../platform/db/sql.ts'
import { DISTRIBUTION_CVE } from '../vocabulary/vulnerability-id.ts'

/**
 * Whether issues are in the KEV catalog, and their highest EPSS score, null if there is none.
 * `issues` is a query for `org_id`, `issue_id` and `vuln_ids`. All ids count, with their aliases,
 * as in `intelJson`.
 */
export function threatsOf(db: Db, issues: ReturnType<Db>) {
  return db`(
    select named.org_id, named.issue_id, bool_or(kev.cve_id is not null) as kev, max(epss.score) as epss
    from (
      select org_id, issue_id, regexp_replace(vuln_id, ${DISTRIBUTION_CVE}, '\\1') as id
      from (${issues}) issue
      cross join unnest(issue.vuln_ids) vuln_id
    ) named
    left join vulnerability_aliases own on own.id = named.id
    left join vulnerability_aliases member on member.canonical_id = own.canonical_id
    left join intel_kev kev on kev.cve_id = coalesce(member.id, named.id)
    left join intel_epss epss on epss.cve_id = coalesce(member.id, named.id)
    group by named.org_id, named.issue_id
  )`
}
