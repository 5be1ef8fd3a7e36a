import type { Db } from '../../../platform/db/sql.ts'
import { DISTRIBUTION_CVE } from '../../vocabulary/vulnerability-id.ts'

/**
 * What is known of exploits, by `org_id` and `issue_id`, for a query that yields these and `vuln_ids`: of all of them, through
 * their aliases, as the shown intelligence is. `epss` may be null.
 */
export function threatsOf(db: Db, issues: ReturnType<Db>) {
  return db`(
    select named.org_id, named.issue_id, bool_or(kev.cve_id is not null) as kev, max(epss.score) as epss
    from (
      select org_id, issue_id, regexp_replace(said, ${DISTRIBUTION_CVE}, '\\1') as id
      from (${issues}) issue
      cross join unnest(issue.vuln_ids) said
    ) named
    left join vulnerability_aliases own on own.id = named.id
    left join vulnerability_aliases member on member.canonical_id = own.canonical_id
    left join intel_kev kev on kev.cve_id = coalesce(member.id, named.id)
    left join intel_epss epss on epss.cve_id = coalesce(member.id, named.id)
    group by named.org_id, named.issue_id
  )`
}
