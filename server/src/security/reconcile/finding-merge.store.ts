import type { Tx } from '../../platform/db/sql.ts'
import { newUuidPrefix } from '../../platform/ids.ts'
import { asReported, detectedIntel, lookUpDetected } from '../intel/lookup/intel-at-detection.store.ts'
import type { MergeScope } from '../issues/writing/grouping.store.ts'
import type { Closing } from './closing.ts'

// These work on the pairs that `pairIncoming` made.

/**
 * Brings stored findings in line with what the report says of them. A fixed one that comes back is reopened and keeps
 * its first_seen_at; a dismissal by a person outlives the report. Equal ones are not written. Returns how many changed.
 */
export async function updateChanged(tx: Tx, { org_id, at }: MergeScope): Promise<number> {
  const rows = await tx`
    update findings finding
    set fingerprint = incoming.fingerprint, fingerprint_method = incoming.fingerprint_method,
      relocation = incoming.relocation, context = incoming.context, ordinal = paired.ordinal, content_hash = incoming.content_hash,
      kind = incoming.kind, type = incoming.type, severity = incoming.severity, title = incoming.title,
      description = incoming.description, native_url = incoming.native_url, path = incoming.path,
      start_line = incoming.start_line, end_line = incoming.end_line, package_name = incoming.package_name,
      package_version = incoming.package_version, fixed_version = incoming.fixed_version, purl = incoming.purl,
      vuln_ids = incoming.vuln_ids, cwes = incoming.cwes, rule_id = incoming.rule_id,
      secret_type = incoming.secret_type, resource_name = incoming.resource_name,
      scanner_score = incoming.scanner_score, cvss_version = incoming.cvss_version, cvss_score = incoming.cvss_score,
      cvss_vector = incoming.cvss_vector, last_seen_at = null, last_commit_sha = null, updated_at = ${at},
      intel_at_detection = coalesce(finding.intel_at_detection, ${asReported(tx)}),
      (state, dismiss_reason, dismiss_comment, dismissal_source, dismissed_at) = (
        select choice.state, choice.dismiss_reason, choice.dismiss_comment, choice.dismissal_source, choice.dismissed_at
        from (
          select finding.state, finding.dismiss_reason, finding.dismiss_comment, finding.dismissal_source,
            finding.dismissed_at
          where finding.state = 'dismissed' and finding.dismissal_source is distinct from 'report'
          union all
          select incoming.state, incoming.dismiss_reason, incoming.dismiss_comment, ${dismissalSource(tx)},
            case when incoming.state = 'dismissed' then coalesce(finding.dismissed_at, ${at}) end
          limit 1
        ) choice
      )
    from paired
    join incoming using (position)
    where paired.is_changed
      and finding.org_id = ${org_id}
      and finding.id = paired.finding_id`
  return rows.count
}

/** Where the report itself says that a result does not count (SARIF suppressions, VEX). */
function dismissalSource(tx: Tx) {
  return tx`case when incoming.state = 'dismissed' then 'report' end`
}

/** Ids of the moment, by the place in the report: in their order the list of findings is served. */
function idsOf(tx: Tx, at: Date) {
  return tx`(${newUuidPrefix(at)} || lpad(to_hex(position), 8, '0'))::uuid`
}

/** Stores what the streams did not hold yet, with what is known at this moment of its vulnerability. Returns how many. */
export async function insertNew(tx: Tx, { org_id, repository_no, at }: MergeScope): Promise<number> {
  await lookUpDetected(tx)
  const rows = await tx`
    insert into findings (
      org_id, id, stream_id, repository_no, fingerprint, fingerprint_method, relocation, context, ordinal, content_hash,
      kind, type, severity, state, title, description, native_url, path, start_line, end_line, package_name,
      package_version, fixed_version, purl, vuln_ids, cwes, rule_id, secret_type, resource_name, scanner_score,
      cvss_version, cvss_score, cvss_vector, intel_at_detection, issue_id, grouping_code, grouping_detail,
      grouped_at, dismiss_reason, dismiss_comment, dismissed_at, dismissal_source, first_seen_at, created_at, updated_at
    )
    select ${org_id}, ${idsOf(tx, at)}, stream_id, ${repository_no}, fingerprint, fingerprint_method, relocation, context, ordinal,
      content_hash, kind, type, severity, state, title, description, native_url, path, start_line, end_line,
      package_name, package_version, fixed_version, purl, vuln_ids, cwes, rule_id, secret_type, resource_name,
      scanner_score, cvss_version, cvss_score, cvss_vector, ${detectedIntel(tx, at)}, grouped.issue_id, grouping_code,
       grouping_detail, ${at}::timestamptz, dismiss_reason, dismiss_comment,
      case when state = 'dismissed' then ${at}::timestamptz end, ${dismissalSource(tx)}, ${at}::timestamptz,
      ${at}::timestamptz, ${at}::timestamptz
    from paired
    join incoming using (position)
    join grouped using (position)
    left join detected using (position)
    where paired.finding_id is null`
  return rows.count
}

/**
 * Settles what the streams hold and the report does not: it was last seen by the newest report that held it, and is
 * fixed where the report may close it. What a person dismissed stays dismissed. Returns how many were resolved.
 */
export async function settleMissing(
  tx: Tx,
  { org_id, at }: MergeScope,
  streams: { id: number; closing: Closing }[],
): Promise<number> {
  const [row] = await tx<[{ resolved: number }]>`
    with settled as (
      update findings finding
      set state = case when ${isClosed(tx)} then 'fixed' else finding.state end,
        last_seen_at = coalesce(finding.last_seen_at, stream.seen_at),
        last_commit_sha = case when finding.last_seen_at is null then stream.commit_sha else finding.last_commit_sha end,
        updated_at = ${at}
      from paired
      join unnest(${streams.map(({ id }) => id)}::bigint[], ${streams.map(({ closing }) => closing)}::text[])
        as word (stream_id, closing) using (stream_id)
      join finding_streams stream on stream.org_id = ${org_id} and stream.id = stream_id
      where paired.position is null
        and finding.org_id = stream.org_id
        and finding.id = paired.finding_id
        and (finding.last_seen_at is null or ${isClosed(tx)})
      returning finding.state
    )
    select count(*) filter (where state = 'fixed') as resolved
    from settled`
  return row.resolved
}

/** Open, or dismissed by a report and by no person. */
function isClosed(tx: Tx) {
  return tx`(
    (finding.state = 'open' or (finding.state = 'dismissed' and finding.dismissal_source = 'report'))
    and (word.closing = 'all' or (word.closing = 'missing_before' and paired.was_missing))
  )`
}

export type SeverityCounts = { critical: number; high: number; medium: number; low: number }

export async function countOpenBySeverity(tx: Tx, orgId: string, streamIds: number[]): Promise<SeverityCounts> {
  const [row] = await tx<[SeverityCounts]>`
    select count(*) filter (where severity = 'critical') as critical,
      count(*) filter (where severity = 'high') as high,
      count(*) filter (where severity = 'medium') as medium,
      count(*) filter (where severity = 'low') as low
    from findings
    where org_id = ${orgId}
      and stream_id = any(${streamIds})
      and state = 'open'`
  return row
}
