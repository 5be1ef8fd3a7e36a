import { buildSpreadCondition } from '../../platform/db/spread.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Page, PageRow } from '../../platform/http/lists.ts'
import { buildIntel } from '../intel/intel.store.ts'
import { buildReportedIntel } from '../intel/intel-at-detection.store.ts'
import { SINGLE_DETAIL } from '../vocabulary/finding.ts'
import { buildTriageAuthor } from '../writing/triage.store.ts'
import { buildFindingPage, buildIsOpenSince, type FindingSelection } from './finding-page.store.ts'

/** One page of findings, newest first, and one row more where there is a next page. */
export function listFindings(db: Db, orgId: string, page: Page, selection: FindingSelection) {
  return db<
    PageRow[]
  >`${selectFindings(db, orgId, buildFindingPage(db, orgId, page, selection))} order by picked.id desc`
}

/** A finding as JSON, or null if it does not exist or was over before `since`. */
export async function findFinding(db: Db, orgId: string, id: string, since: Date): Promise<string | null> {
  const picked = db`
    select finding.id
    from findings finding
    where finding.org_id = ${orgId}
      and finding.id = ${id}
      and (finding.created_at >= ${since} or ${buildIsOpenSince(db, db`finding`, since)})`
  const [row] = await db<PageRow[]>`${selectFindings(db, orgId, picked)}`
  return row?.json ?? null
}

/** Selects the findings whose ids `picked` selects. */
function selectFindings(db: Db, orgId: string, picked: ReturnType<typeof buildFindingPage>) {
  return db`
    select finding.created_at, finding.id, ${findingJson(db, orgId)} as json
    from (${picked}) picked
    cross join lateral (
      select finding.*
      from findings finding
      where finding.org_id = ${orgId}
        and finding.id = picked.id
      offset 0
    ) finding
    cross join lateral (
      select stream.*
      from finding_streams stream
      where stream.org_id = ${orgId}
        and stream.id = finding.stream_id
      offset 0
    ) stream
    join reported_repositories repository on repository.org_id = ${orgId} and repository.id = finding.repository_no
    left join lateral ${buildFindingDismissal(db, orgId)} dismissal on true
    left join lateral ${buildEndedDismissal(db, orgId)} ended on true`
}

/** How a row `finding` was last recognized. */
export function buildIdentityJson(db: Db) {
  return db`
    json_build_object(
      'method', coalesce(finding.identity_method, 'new'), 'matched_from', finding.identity_from,
      'at', rfc3339(coalesce(finding.identity_at, finding.first_seen_at))
    )`
}

/**
 * Why a row `finding` is fixed although no report says so: its row `stream` was ended. What a
 * report had closed before then is fixed. A match of the inventory has reasons of its own.
 */
function buildEndReason(db: Db, orgId: string) {
  return db`
    case
      when stream.origin = 'inventory'
      then (
        select ended_as
        from inventory_matches match
        where match.org_id = finding.org_id ${buildSpreadCondition(db, 'match', orgId)}
          and match.finding_id = finding.id
      )
      when finding.reported_state = 'fixed' and stream.ended_at is not null
        and (finding.last_seen_at >= stream.seen_at or finding.updated_at = stream.ended_at)
      then 'stream_ended'
    end`
}

/** A finding that its stream's newest report contains was last seen with that report. */
function findingJson(db: Db, orgId: string) {
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
          when finding.path is null then null
          when coalesce(finding.start_column, finding.end_column) is null
          then json_build_object('path', finding.path, 'start_line', finding.start_line, 'end_line', finding.end_line)
          else json_build_object(
            'path', finding.path, 'start_line', finding.start_line, 'end_line', finding.end_line,
            'start_column', finding.start_column, 'end_column', finding.end_column
          )
        end as location,
        finding.package_name, finding.package_version, finding.fixed_version, finding.purl, finding.vuln_ids,
        finding.cwes, finding.rule_id, finding.secret_type, finding.resource_name,
        rfc3339(finding.first_seen_at) as first_seen_at,
        rfc3339(coalesce(finding.last_seen_at, stream.seen_at)) as last_seen_at,
        ${buildIdentityJson(db)} as identity, finding.issue_id, stream.upload_id,
        json_build_object(
          'code', finding.grouping_code, 'detail', coalesce(finding.grouping_detail, ${SINGLE_DETAIL}),
          'at', rfc3339(finding.grouped_at)
        ) as grouping_reason,
        ${buildEndReason(db, orgId)} as category_reason, stream.preview, dismissal.dismiss_reason, dismissal.dismiss_comment, dismissal.dismissed_by_name,
        rfc3339(dismissal.dismissed_at) as dismissed_at, dismissal.dismissal_source,
        rfc3339(dismissal.dismissal_expires_at) as dismissal_expires_at, finding.triage_id,
        ended.dismissal as dismissal_ended, ${buildIntel(db, db`finding`)} as intel,
        coalesce(finding.intel_at_detection, ${buildReportedIntel(db)}) as intel_at_detection
    ) item
  )`
}

/**
 * Why, when and by whom a row `finding` was dismissed: by the triage that decides its state, or
 * else by its report or alert. All columns are null if the finding is not dismissed. For `left join
 * lateral (…) dismissal on true`.
 */
export function buildFindingDismissal(db: Db, orgId: string) {
  return db`(
    select triage.reason as dismiss_reason, triage.comment as dismiss_comment,
      ${buildTriageAuthor(db)} as dismissed_by_name,
      triage.created_at as dismissed_at, triage.source as dismissal_source, triage.expires_at as dismissal_expires_at
    from triages triage
    where finding.triaged_state = 'dismissed'
      and triage.org_id = finding.org_id ${buildSpreadCondition(db, 'triage', orgId)}
      and triage.id = finding.triage_id
    union all
    select finding.reported_dismiss_reason, finding.reported_dismiss_comment,
      coalesce(
        finding.reported_dismissed_by_name, case finding.reported_dismissal_source when 'report' then 'scanner report' end
      ),
      finding.reported_dismissed_at, finding.reported_dismissal_source, null
    where finding.triaged_state is null
  )`
}

/**
 * The dismissal of a row `finding` that ended because the finding changed, as `dismissal`, until
 * somebody decides about it again. For `left join lateral (…) ended on true`.
 */
export function buildEndedDismissal(db: Db, orgId: string) {
  return db`(
    select json_build_object(
      'at', rfc3339(part.ended_at), 'changed', part.changed, 'reason', triage.reason, 'comment', triage.comment,
      'by', triage.created_by_name
    ) as dismissal, part.ended_at
    from triage_findings part
    join triages triage on triage.org_id = part.org_id and triage.id = part.triage_id
    where finding.state = 'open'
      and finding.triage_id is null
      and part.org_id = finding.org_id
      ${buildSpreadCondition(db, 'part', orgId)} ${buildSpreadCondition(db, 'triage', orgId)}
      and part.finding_id = finding.id
      and part.ended_at is not null
      and triage.ended_at is null
    order by part.no desc
    limit 1
  )`
}
