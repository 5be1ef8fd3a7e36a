import { pageOfTimedIds, timedIdsOf } from '../../platform/db/page.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Page, PageRow } from '../../platform/http/lists.ts'
import { intelJson } from '../intel/lookup/intel.store.ts'
import { asReported } from '../intel/lookup/intel-at-detection.store.ts'
import { ofProvider } from '../repositories/reported-repository.store.ts'
import type { RepositorySelection } from '../repositories/select-repositories.ts'
import { SINGLE_DETAIL } from '../vocabulary/finding.ts'

/** One page of findings, newest first, and one row more where there is a next page. */
export async function listFindings(
  db: Db,
  orgId: string,
  page: Page,
  selection: RepositorySelection,
): Promise<PageRow[]> {
  return db<PageRow[]>`
    select finding.created_at, finding.id, ${findingJson(db)} as json
    from (${pickPage(db, orgId, page, selection)}) picked
    cross join lateral (
      select finding.*
      from findings finding
      where finding.org_id = ${orgId}
        and finding.id = picked.id
      offset 0
    ) finding
    join finding_streams stream on stream.org_id = ${orgId} and stream.id = finding.stream_id
    join reported_repositories repository on repository.org_id = ${orgId} and repository.id = finding.repository_no
    order by picked.id desc`
}

/**
 * The ids of the page. `limit` and `offset 0` keep the planner from joining anything before the
 * page is picked: without statistics of the joined tables it would read all findings.
 */
function pickPage(db: Db, orgId: string, page: Page, { repositoryNos, provider }: RepositorySelection) {
  if (repositoryNos !== null) return pickOfRepositories(db, orgId, page, repositoryNos)
  return db`
    select finding.id
    from findings finding
    where finding.org_id = ${orgId}
      and ${pageOfTimedIds(db, page, db`finding`)}
      ${ofProvider(db, db`finding`, provider)}
    order by finding.id desc
    limit ${page.limit + 1}`
}

/**
 * The newest of each repository, and of these the newest. Repository and id are compared and sorted
 * as one row, although the repository is constant: only `findings_by_repository` has this order, so
 * the planner needs no statistics to choose it.
 */
function pickOfRepositories(db: Db, orgId: string, page: Page, repositoryNos: number[]) {
  const { from, before } = timedIdsOf(page)
  return db`
    select found.id
    from unnest(${repositoryNos}::bigint[]) selected (repository_no)
    cross join lateral (
      select finding.id
      from findings finding
      where finding.org_id = ${orgId}
        and (finding.repository_no, finding.id) >= (selected.repository_no, ${from}::uuid)
        and (finding.repository_no, finding.id) < (selected.repository_no, ${before}::uuid)
      order by finding.repository_no desc, finding.id desc
      limit ${page.limit + 1}
    ) found
    order by found.id desc
    limit ${page.limit + 1}`
}

/** How a row `finding` was last recognized. */
export function identityJson(db: Db) {
  return db`
    json_build_object(
      'method', coalesce(finding.identity_method, 'new'), 'matched_from', finding.identity_from,
      'at', rfc3339(coalesce(finding.identity_at, finding.first_seen_at))
    )`
}

/** A finding that its stream's newest report contains was last seen with that report. */
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
        ${identityJson(db)} as identity, finding.issue_id,
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
