import { pageOfTimedIds } from '../../platform/db/page.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Page, PageRow } from '../../platform/http/lists.ts'
import { intelJson } from '../intel/lookup/intel.store.ts'
import { asReported } from '../intel/lookup/intel-at-detection.store.ts'
import { SINGLE_DETAIL } from '../issues/grouping/grouping-facts.ts'
import type { RepositorySelection } from '../repositories/select-repositories.ts'

/** One page of raw findings, newest first, of the repositories that are selected. */
export async function listFindings(
  db: Db,
  orgId: string,
  page: Page,
  { repositoryNos, provider }: RepositorySelection,
): Promise<PageRow[]> {
  return db<PageRow[]>`
    select finding.created_at, finding.id, ${findingJson(db)} as json
    from findings finding
    join finding_streams stream on stream.org_id = finding.org_id and stream.id = finding.stream_id
    join reported_repositories repository
      on repository.org_id = finding.org_id and repository.id = finding.repository_no
    where finding.org_id = ${orgId}
      and ${pageOfTimedIds(db, page, db`finding`)}
      ${repositoryNos === null ? db`` : ofRepositories(db, repositoryNos)}
      ${provider === null ? db`` : db`and repository.provider = ${provider}`}
    order by finding.id desc
    limit ${page.limit + 1}`
}

/** One repository, the usual case, is an equality: then the index by repository serves the order too. */
function ofRepositories(db: Db, repositoryNos: number[]) {
  const [only, ...others] = repositoryNos
  if (only !== undefined && others.length === 0) return db`and finding.repository_no = ${only}`
  return db`and finding.repository_no = any(${repositoryNos})`
}

/** While the newest report of its stream holds a finding, it was last seen when the stream was. */
function findingJson(db: Db) {
  return db`(
    select row_to_json(item)::text
    from (
      select finding.id, stream.origin, stream.source, stream.tool as scanner, stream.tool_version as scanner_version,
        finding.kind, finding.type, finding.severity, finding.state, finding.title, finding.description,
        finding.native_url, repository.name as repository, repository.provider,
        repository.provider_id as repository_id,
        case when finding.last_seen_at is null then stream.commit_sha else finding.last_commit_sha end as commit_sha,
        stream.git_ref, stream.category, stream.tracked,
        case
          when finding.path is not null
          then json_build_object('path', finding.path, 'start_line', finding.start_line, 'end_line', finding.end_line)
        end as location,
        finding.package_name, finding.package_version, finding.fixed_version, finding.purl, finding.vuln_ids,
        finding.cwes, finding.rule_id, finding.secret_type, finding.resource_name,
        rfc3339(finding.first_seen_at) as first_seen_at,
        rfc3339(coalesce(finding.last_seen_at, stream.seen_at)) as last_seen_at,
        finding.issue_id,
        json_build_object(
          'code', finding.grouping_code, 'detail', coalesce(finding.grouping_detail, ${SINGLE_DETAIL}),
          'at', rfc3339(finding.grouped_at)
        ) as grouping_reason,
        null as category_reason, finding.dismiss_reason,
        finding.dismiss_comment, finding.dismissed_by_name, rfc3339(finding.dismissed_at) as dismissed_at,
        finding.dismissal_source, ${intelJson(db, db`finding`)} as intel,
        coalesce(finding.intel_at_detection, ${asReported(db)}) as intel_at_detection
    ) item
  )`
}
