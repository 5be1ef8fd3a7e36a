import type { Db } from '../../platform/db/sql.ts'
import { intelJson } from '../intel/lookup/intel.store.ts'
import { SEVERITIES } from '../vocabulary/severity.ts'

/** An issue's own words are those of its foremost member; what can differ between members is counted or joined over all. */
export function issueJson(db: Db) {
  return db`(
    select row_to_json(item)::text
    from (
      select issue.id, members.member_count = 1 as synthetic, issue.kind, lead.type, lead.title, lead.description,
        (${[...SEVERITIES].reverse()}::text[])[issue.severity + 1] as severity, issue.status,
        repository.name as repository, repository.provider, repository.provider_id as repository_id,
        lead.package_name, lead.package_version, lead.purl, issue.vuln_ids, members.cwes,
        case
          when lead.path is not null
          then json_build_object('path', lead.path, 'start_line', lead.start_line, 'end_line', lead.end_line)
        end as location,
        lead.resource_name, rfc3339(members.first_seen_at) as first_seen_at,
        rfc3339(members.last_seen_at) as last_seen_at, members.sources, members.member_count, members.source_count,
        members.open_member_count, issue.split_from, dismissal.dismiss_reason, dismissal.dismiss_comment,
        dismissal.dismissed_by_name, rfc3339(dismissal.dismissed_at) as dismissed_at,
        rfc3339(issue.updated_at) as updated_at, ${intelJson(db, db`told`)} as intel
      from reported_repositories repository
      cross join lateral ${membersOf(db)} members
      cross join lateral ${leadOf(db)} lead
      cross join lateral ${toldOf(db)} told
      left join lateral ${dismissalOf(db)} dismissal on issue.status = 'dismissed'
      where repository.org_id = issue.org_id
        and repository.id = issue.repository_no
    ) item
  )`
}

/** All that is counted or joined over the members. A source is a scanner in one format of reports. */
function membersOf(db: Db) {
  return db`(
    select sum(count)::int as member_count, count(*)::int as source_count, sum(open)::int as open_member_count,
      min(first_seen_at) as first_seen_at, max(last_seen_at) as last_seen_at,
      json_agg(json_build_object('source', source, 'scanner', scanner, 'count', count, 'open', open)
        order by source, scanner) as sources,
      (
        select coalesce(array_agg(distinct cwe order by cwe), '{}')
        from findings finding
        cross join unnest(finding.cwes) cwe
        where finding.org_id = issue.org_id
          and finding.issue_id = issue.id
      ) as cwes
    from (
      select stream.source, stream.tool as scanner, count(*), ${countOpen(db)} as open,
        min(finding.first_seen_at) as first_seen_at,
        max(coalesce(finding.last_seen_at, stream.seen_at)) as last_seen_at
      from ${memberRows(db)}
      group by stream.source, stream.tool
    ) by_source
  )`
}

function countOpen(db: Db) {
  return db`count(*) filter (where ${isOpen(db)})`
}

/** What is only noted for a branch opens no issue. */
function isOpen(db: Db) {
  return db`(finding.state = 'open' and stream.tracked)`
}

/** The member that speaks for the issue: the worst open one, of equals the first that was seen. */
function leadOf(db: Db) {
  return db`(
    select finding.type, finding.title, finding.description, finding.package_name, finding.package_version, finding.purl,
      finding.path, finding.start_line, finding.end_line, finding.resource_name
    from ${memberRows(db)}
    order by ${isOpen(db)} desc, stream.tracked desc, array_position(${SEVERITIES}::text[], finding.severity),
      finding.first_seen_at, finding.id
    limit 1
  )`
}

/** What members say of the vulnerability, whichever says it: a fix, and the newest CVSS. */
function toldOf(db: Db) {
  return db`(
    select issue.vuln_ids, lead.package_name, lead.package_version, lead.purl, fix.fixed_version, cvss.cvss_version,
      cvss.cvss_score, cvss.cvss_vector
    from (values (0)) issue_itself
    left join lateral (
      select finding.fixed_version
      from ${memberRows(db)}
      where finding.fixed_version is not null
      order by finding.id
      limit 1
    ) fix on true
    left join lateral (
      select finding.cvss_version, finding.cvss_score, finding.cvss_vector
      from ${memberRows(db)}
      where finding.cvss_vector is not null
        or finding.cvss_score is not null
      order by finding.cvss_version desc nulls last, finding.cvss_score desc nulls last, finding.id
      limit 1
    ) cvss on true
  )`
}

/** Of the dismissals of an issue the last. */
function dismissalOf(db: Db) {
  return db`(
    select finding.dismiss_reason, finding.dismiss_comment, finding.dismissed_by_name, finding.dismissed_at
    from ${memberRows(db)}
    where finding.state = 'dismissed'
    order by finding.dismissed_at desc, finding.id
    limit 1
  )`
}

function memberRows(db: Db) {
  return db`
    findings finding
    join finding_streams stream
      on stream.org_id = finding.org_id
      and stream.id = finding.stream_id
      and finding.org_id = issue.org_id
      and finding.issue_id = issue.id`
}
