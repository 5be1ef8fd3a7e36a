import { pageOf } from '../platform/db/page.ts'
import type { Db } from '../platform/db/sql.ts'
import type { Page, PageRow } from '../platform/http/lists.ts'

/** One page of unique issues, newest first, and one row more where there is a next page. */
export async function listIssues(db: Db, orgId: string, page: Page): Promise<PageRow[]> {
  return db<PageRow[]>`
    select issue.created_at, issue.id, ${issueJson(db)} as json
    from security_issues issue
    where issue.org_id = ${orgId}
      and ${pageOf(db, page, db`issue`)}
    order by issue.created_at desc, issue.id desc
    limit ${page.limit + 1}`
}

function issueJson(db: Db) {
  return db`(
    select row_to_json(item)::text
    from (
      select issue.id, issue.synthetic, issue.kind, issue.type, issue.title, issue.description, issue.severity,
        issue.status, issue.repository, issue.provider, issue.repository_id, issue.package_name,
        issue.package_version, issue.purl, issue.vuln_ids, issue.cwes,
        case
          when issue.path is not null
          then json_build_object('path', issue.path, 'start_line', issue.start_line, 'end_line', issue.end_line)
        end as location,
        issue.resource_name, rfc3339(issue.first_seen_at) as first_seen_at,
        rfc3339(issue.last_seen_at) as last_seen_at, issue.sources, issue.member_count, issue.source_count,
        issue.open_member_count, issue.split_from, issue.dismiss_reason, issue.dismiss_comment,
        issue.dismissed_by_name, rfc3339(issue.dismissed_at) as dismissed_at,
        rfc3339(issue.updated_at) as updated_at, issue.intel
    ) item
  )`
}
