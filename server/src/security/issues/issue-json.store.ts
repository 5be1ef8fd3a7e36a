import { buildSpreadCondition } from '../../platform/db/spread.ts'
import type { Db } from '../../platform/db/sql.ts'
import { buildFindingDismissal } from '../findings/finding-dismissal.store.ts'
import { buildIntel } from '../intel/intel.store.ts'
import { buildRankedSeverity, buildSeverityRank } from '../vocabulary/severity.store.ts'

/** The JSON of an issue. Its title, location and package are those of its worst open finding. */
export function buildIssueJson(db: Db, orgId: string) {
  return db`(
    select row_to_json(item)::text
    from (
      select issue.id, members.member_count = 1 as synthetic, issue.kind, lead.type, lead.title, lead.description,
        ${buildRankedSeverity(db, db`issue.severity`)} as severity, issue.status,
        repository.name as repository, repository.provider, repository.provider_id as repository_id,
        lead.package_name, lead.package_version, lead.purl, issue.vuln_ids, members.cwes,
        case
          when lead.path is not null
          then json_build_object('path', lead.path, 'start_line', lead.start_line, 'end_line', lead.end_line)
        end as location,
        lead.resource_name, rfc3339(members.first_seen_at) as first_seen_at,
        rfc3339(members.last_seen_at) as last_seen_at, members.sources, members.member_count, members.source_count,
        members.open_member_count, issue.split_from, dismissal.dismiss_reason, dismissal.dismiss_comment,
        dismissal.dismissed_by_name, rfc3339(dismissal.dismissed_at) as dismissed_at, dismissal.dismissal_source,
        rfc3339(dismissal.dismissal_expires_at) as dismissal_expires_at,
        rfc3339(issue.updated_at) as updated_at, ${buildIntel(db, db`vulnerability`)} as intel
      from reported_repositories repository
      cross join lateral ${buildMembers(db, orgId)} members
      cross join lateral ${buildLead(db, orgId)} lead
      cross join lateral ${buildVulnerability(db, orgId)} vulnerability
      left join lateral ${buildDismissal(db, orgId)} dismissal on issue.status = 'dismissed'
      where repository.org_id = issue.org_id ${buildSpreadCondition(db, 'repository', orgId)}
        and repository.id = issue.repository_no
    ) item
  )`
}

/** Counts and lists over all findings. A source is a scanner in one report format. */
function buildMembers(db: Db, orgId: string) {
  return db`(
    select sum(count)::int as member_count, count(*)::int as source_count, sum(open)::int as open_member_count,
      min(first_seen_at) as first_seen_at, max(last_seen_at) as last_seen_at,
      json_agg(json_build_object('source', source, 'scanner', scanner, 'count', count, 'open', open)
        order by source, scanner) as sources,
      (
        select coalesce(array_agg(distinct cwe order by cwe), '{}')
        from findings finding
        cross join unnest(finding.cwes) cwe
        where finding.org_id = issue.org_id ${buildSpreadCondition(db, 'finding', orgId)}
          and finding.issue_id = issue.id
      ) as cwes
    from (
      select stream.source, stream.tool as scanner, count(*), ${countOpen(db)} as open,
        min(finding.first_seen_at) as first_seen_at,
        max(coalesce(finding.last_seen_at, stream.seen_at)) as last_seen_at
      from ${memberRows(db, orgId)}
      group by stream.source, stream.tool
    ) by_source
  )`
}

function countOpen(db: Db) {
  return db`count(*) filter (where ${isOpen(db)})`
}

/** A finding on another branch than the tracked one does not open the issue. */
function isOpen(db: Db) {
  return db`(finding.state = 'open' and stream.tracked)`
}

/**
 * The finding that represents the issue: the worst open one; if several are equal, the first seen.
 */
function buildLead(db: Db, orgId: string) {
  return db`(
    select finding.type, finding.title, finding.description, finding.package_name, finding.package_version, finding.purl,
      finding.path, finding.start_line, finding.end_line, finding.resource_name
    from ${memberRows(db, orgId)}
    order by ${isOpen(db)} desc, stream.tracked desc, ${buildSeverityRank(db, db`finding.severity`)} desc,
      finding.first_seen_at, finding.id
    limit 1
  )`
}

/**
 * The vulnerability as the findings describe it: the first fixed version and the newest CVSS
 * rating.
 */
function buildVulnerability(db: Db, orgId: string) {
  return db`(
    select issue.vuln_ids, lead.package_name, lead.package_version, lead.purl, fix.fixed_version, cvss.cvss_version,
      cvss.cvss_score, cvss.cvss_vector
    from (values (0)) issue_itself
    left join lateral (
      select finding.fixed_version
      from ${memberRows(db, orgId)}
      where finding.fixed_version is not null
      order by finding.id
      limit 1
    ) fix on true
    left join lateral (
      select finding.cvss_version, finding.cvss_score, finding.cvss_vector
      from ${memberRows(db, orgId)}
      where finding.cvss_vector is not null
        or finding.cvss_score is not null
      order by finding.cvss_version desc nulls last, finding.cvss_score desc nulls last, finding.id
      limit 1
    ) cvss on true
  )`
}

/** The last dismissal of a finding. */
function buildDismissal(db: Db, orgId: string) {
  return db`(
    select dismissal.*
    from ${memberRows(db, orgId)}
    cross join lateral ${buildFindingDismissal(db, orgId)} dismissal
    where finding.state = 'dismissed'
    order by dismissal.dismissed_at desc, finding.id
    limit 1
  )`
}

function memberRows(db: Db, orgId: string) {
  return db`
    findings finding
    join finding_streams stream
      on stream.org_id = finding.org_id
      and stream.id = finding.stream_id
      and finding.org_id = issue.org_id
      and finding.issue_id = issue.id
      ${buildSpreadCondition(db, 'finding', orgId)} ${buildSpreadCondition(db, 'stream', orgId)}`
}
