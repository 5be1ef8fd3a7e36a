import { buildAverageId, isSpread } from '../../platform/db/spread.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { createUuidPrefix } from '../../platform/ids.ts'
import { buildIntel } from '../intel/intel.store.ts'
import { buildKevAt, buildReportedIntel, buildReportedIntelCall } from '../intel/intel-at-detection.store.ts'
import type { GroupedReport } from './group-report.ts'
import type { After, Incoming } from './incoming.store.ts'
import type { JudgedStream } from './judge-streams.ts'
import { buildNamedStreams, type NamedStream } from './pair-exactly.store.ts'
import { hasPairs, type Paired } from './paired.store.ts'

/** How many findings were written. */
export type Written = After<'write'> & {
  readonly paired: Paired
  readonly created: number
  readonly updated: number
  readonly resolved: number
}

/**
 * Brings the stored findings in line with the report. Statements without rows to write are skipped,
 * because they would still read every finding, and most reports bring no news.
 */
export async function upsertFindings(
  grouped: GroupedReport,
  streams: readonly Pick<JudgedStream, 'id' | 'kept'>[],
): Promise<Written> {
  const { paired } = grouped
  const updated = hasPairs(paired, 'changed') ? await updateChanged(grouped) : 0
  const created = hasPairs(paired, 'fresh') ? await insertNew(grouped) : 0
  const resolved = hasPairs(paired, 'absent') ? await settleMissing(paired, streams) : 0
  return { paired, created, updated, resolved } as Written
}

/**
 * Gives stored findings the ids that their rules have now, if the report names the earlier ones,
 * has no findings of them any more, and no stored finding has the new identity already.
 */
export async function updateRenamedRules(
  { tx, members }: Incoming,
  orgId: string,
  streams: readonly NamedStream[],
): Promise<void> {
  if (!members.hasEarlier) return
  await tx`
    update findings finding
    set rule_id = renamed.rule_id, fingerprint = renamed.fingerprint, relocation = renamed.relocation
    from (
      select distinct on (stream_id, earlier_fingerprint) *
      from (
        select distinct on (stream.id, incoming.fingerprint) stream.id as stream_id, incoming.fingerprint,
          incoming.relocation, incoming.rule_id, earlier.fingerprint as earlier_fingerprint, earlier.no
        from incoming
        join ${buildNamedStreams(tx, streams)} on stream.tool = incoming.tool
        cross join lateral (
          select rule_id, decode(hex, 'hex') as fingerprint, no
          from unnest(incoming.earlier_rules, incoming.earlier_fingerprints) with ordinality named (rule_id, hex, no)
        ) earlier
        where exists (
          select from findings stored
          where stored.org_id = ${buildAverageId(tx, orgId)}
            and stored.stream_id = stream.id
            and stored.fingerprint = earlier.fingerprint
        )
          and not exists (
            select from findings stored
            where stored.org_id = ${buildAverageId(tx, orgId)}
              and stored.stream_id = stream.id
              and stored.fingerprint = incoming.fingerprint
          )
          and not exists (
            select from incoming other
            where other.tool = incoming.tool
              and other.rule_id = earlier.rule_id
          )
          and not exists (
            select from incoming other
            where other.tool = incoming.tool
              and other.fingerprint = earlier.fingerprint
          )
        order by stream.id, incoming.fingerprint, earlier.no
      ) renamed
      order by stream_id, earlier_fingerprint, no, fingerprint
    ) renamed
    where finding.org_id = ${buildAverageId(tx, orgId)}
      and finding.stream_id = renamed.stream_id
      and finding.fingerprint = renamed.earlier_fingerprint`
}

/**
 * Updates the findings that the report changes. A fixed finding is reopened and keeps its
 * `first_seen_at`. Triages are kept. Returns the number of findings.
 */
async function updateChanged({ paired }: GroupedReport): Promise<number> {
  const { tx, scope } = paired
  const { org_id, at } = scope
  const rows = await tx`
    update findings finding
    set stream_id = paired.stream_id, fingerprint = incoming.fingerprint, fingerprint_method = incoming.fingerprint_method,
      relocation = incoming.relocation, similarity = incoming.similarity, context = incoming.context,
      ordinal = coalesce(paired.ordinal, finding.ordinal),
      content_hash = incoming.content_hash, kind = incoming.kind, type = incoming.type, severity = incoming.severity, title = incoming.title,
      description = incoming.description, native_url = incoming.native_url, path = incoming.path,
      start_line = incoming.start_line, end_line = incoming.end_line, start_column = incoming.start_column,
      end_column = incoming.end_column, package_name = incoming.package_name,
      package_version = incoming.package_version, fixed_version = incoming.fixed_version, purl = incoming.purl,
      vuln_ids = incoming.vuln_ids, cwes = incoming.cwes, rule_id = incoming.rule_id,
      secret_type = incoming.secret_type, resource_name = incoming.resource_name,
      scanner_score = incoming.scanner_score, cvss_version = incoming.cvss_version, cvss_score = incoming.cvss_score,
      cvss_vector = incoming.cvss_vector, ${recognized(tx, at)}, last_seen_at = incoming.seen_at, last_commit_sha = incoming.commit_sha,
      updated_at = ${at},
      intel_at_detection = coalesce(finding.intel_at_detection, ${isSpread() ? buildReportedIntelCall(tx) : buildReportedIntel(tx)}),
      reported_state = incoming.state, reported_dismiss_reason = incoming.dismiss_reason,
      reported_dismiss_comment = incoming.dismiss_comment, reported_dismissal_source = ${dismissalSource(tx)},
      reported_dismissed_at = case
        when incoming.alert_id is not null then incoming.dismissed_at
        when incoming.state = 'dismissed' then coalesce(finding.reported_dismissed_at, ${at})
      end,
      reported_dismissed_by_name = incoming.dismissed_by_name
    from paired
    join incoming using (position)
    where paired.is_changed
      and finding.org_id = ${buildAverageId(tx, org_id)}
      and finding.id = paired.finding_id`
  return rows.count
}

/**
 * How the finding was recognized, and its place before the update. An exact match leaves the stored
 * values.
 */
function recognized(tx: Tx, at: Date) {
  return tx`
      identity_method = coalesce(paired.identity_method, finding.identity_method),
      identity_at = case when paired.identity_method is null then finding.identity_at else ${at}::timestamptz end,
      identity_from = case
        when paired.identity_method is null then finding.identity_from
        ${
          isSpread()
            ? tx`else place_json(finding.path, finding.start_line)`
            : tx`
        when finding.path is not null
        then jsonb_build_object('path', finding.path, 'start_line', finding.start_line)`
        }
      end`
}

/**
 * An alert states who dismissed it. A report itself dismisses a finding by a SARIF suppression or a
 * VEX statement.
 */
function dismissalSource(tx: Tx) {
  return tx`
    case
      when incoming.alert_id is not null then incoming.dismissal_source
      when incoming.state = 'dismissed' then 'report'
    end`
}

/**
 * Inserts the new findings with what is known of their vulnerabilities at this time. Returns their
 * number. Rows in the order of their ids are faster to insert, and to read in lists.
 */
async function insertNew({ paired }: GroupedReport): Promise<number> {
  const { tx, scope } = paired
  const { org_id, repository_no, at } = scope
  const detected = await insertDetected(paired)
  // UUIDs of this time, in the order of the positions in the report: the list of findings is
  // sorted by id.
  const id = tx`(${createUuidPrefix(at)} || lpad(to_hex(position), 8, '0'))::uuid`
  const rows = await tx`
    insert into findings (
      org_id, id, stream_id, repository_no, fingerprint, fingerprint_method, relocation, similarity, context, ordinal,
      content_hash, kind, type, severity, reported_state, title, description, native_url, path, start_line, end_line,
      start_column, end_column, package_name, package_version, fixed_version, purl, vuln_ids, cwes, rule_id,
      secret_type, resource_name, scanner_score, cvss_version, cvss_score, cvss_vector, intel_at_detection, issue_id,
      grouping_code, grouping_detail, grouped_at, reported_dismiss_reason, reported_dismiss_comment,
      reported_dismissed_at, reported_dismissal_source, reported_dismissed_by_name, first_seen_at, last_seen_at,
      last_commit_sha, created_at, updated_at
    )
    select ${org_id}, ${id}, stream_id, ${repository_no}, fingerprint, fingerprint_method, relocation,
      similarity, context, ordinal, content_hash, kind, type, severity, state, title, description, native_url, path, start_line, end_line,
      start_column, end_column, package_name, package_version, fixed_version, purl, vuln_ids, cwes, rule_id,
      secret_type, resource_name, scanner_score, cvss_version, cvss_score, cvss_vector, ${buildDetectedIntel(detected)}, grouped.issue_id, grouping_code,
      grouping_detail, ${at}::timestamptz, dismiss_reason, dismiss_comment,
      case
        when alert_id is not null then dismissed_at
        when state = 'dismissed' then ${at}::timestamptz
      end,
      ${dismissalSource(tx)}, dismissed_by_name, coalesce(first_seen_at, ${at}::timestamptz), seen_at, commit_sha,
      ${at}::timestamptz, ${at}::timestamptz
    from paired
    join incoming using (position)
    join grouped using (position)
    left join detected using (position)
    where paired.finding_id is null
    order by position`
  return rows.count
}

/**
 * Records when the findings that the report does not contain were last seen, and marks those that
 * are not kept as fixed. Returns how many are shown as fixed: a triage still dismisses.
 */
async function settleMissing(paired: Paired, streams: readonly Pick<JudgedStream, 'id' | 'kept'>[]): Promise<number> {
  const { tx, scope } = paired
  const { org_id, at } = scope
  const kept = streams.flatMap((stream) => (stream.kept === 'all' ? [] : stream.kept))
  const whole = streams.flatMap((stream) => (stream.kept === 'all' ? [stream.id] : []))
  const isClosed = tx`kept_id is null and not paired.stream_id = any(${whole}::bigint[])`
  const [row] = await tx<[{ resolved: number }]>`
    with settled as (
      update findings finding
      set reported_state = case when ${isClosed} then 'fixed' else finding.reported_state end,
        last_seen_at = coalesce(finding.last_seen_at, stream.seen_at),
        last_commit_sha = case when finding.last_seen_at is null then stream.commit_sha else finding.last_commit_sha end,
        updated_at = ${at}
      from paired
      left join unnest(${kept}::uuid[]) as kept (kept_id) on kept_id = paired.finding_id
      join finding_streams stream on stream.org_id = ${buildAverageId(tx, org_id)} and stream.id = stream_id
      where paired.position is null
        and paired.stream_id = any(${streams.map(({ id }) => id)}::bigint[])
        and finding.org_id = stream.org_id
        and finding.id = paired.finding_id
        and (finding.last_seen_at is null or (${isClosed}))
      returning finding.state
    )
    select count(*) filter (where state = 'fixed') as resolved
    from settled`
  return row.resolved
}

/**
 * The temporary table `detected`: the intel of new findings by their position. Findings without
 * intel have no row.
 */
type Detected = After<'detect'> & { readonly tx: Tx; readonly at: Date }

/**
 * Looks up what is known of the vulnerabilities of new findings. Findings with the same
 * vulnerabilities in the same version of a package are looked up once.
 */
async function insertDetected({ tx, scope }: Paired): Promise<Detected> {
  await tx`
    create temporary table detected on commit drop as
    with named as materialized (
      select position,
        row(
          vuln_ids, package_name, package_version, purl, fixed_version, cvss_version, cvss_score, cvss_vector
        )::text as subject,
        vuln_ids, package_name, package_version, purl, fixed_version, cvss_version, cvss_score, cvss_vector
      from paired
      join incoming using (position)
      where paired.finding_id is null
        and vuln_ids <> '{}'
        and exists (select from intel_sources where imported_at is not null)
    ),
    known as materialized (
      select subject, ${buildIntel(tx, tx`named`)}::jsonb as intel
      from (select distinct on (subject) * from named) named
    )
    select named.position, known.intel
    from named
    join known using (subject)
    where known.intel -> 'kev' <> 'null'
      or known.intel -> 'epss' <> 'null'
      or known.intel -> 'as_of' -> 'advisory' <> 'null'`
  return { tx, at: scope.at } as Detected
}

/**
 * The specification's `intel_at_detection` of a row of `incoming` joined with `detected`, or null
 * if nothing is known but what the report itself states. A KEV entry counts from the day it was
 * added. What is known today about an alert that the host detected on an earlier day is backfilled.
 */
export function buildDetectedIntel({ tx, at }: Detected) {
  const intel: ReturnType<Tx> = tx`detected.intel`
  const time: ReturnType<Tx> = tx`coalesce(incoming.first_seen_at, ${at}::timestamptz)`
  return tx`
    case
      when ${intel} is not null
      then jsonb_build_object(
        'at', rfc3339(${time}), 'severity', incoming.severity, 'scanner_score', incoming.scanner_score,
        'cvss', ${intel} -> 'cvss', 'epss', ${intel} -> 'epss', 'kev', ${buildKevAt(tx, intel, time)},
        'fix_available', ${intel} -> 'fix_available', 'backfilled', ${time}::date < ${at}::timestamptz::date
      )
    end`
}
