import { type Copy, openCopy } from '../platform/db/copy-rows.ts'
import type { Tx } from '../platform/db/sql.ts'
import { INCOMING_COLUMNS } from './incoming-finding.ts'
import type { ReportTool } from './parsers/parsed-report.ts'

/** Opens the temporary table that a report's findings are copied into. It ends with the transaction. */
export async function copyIncoming(tx: Tx): Promise<Copy> {
  await tx`set local statement_timeout = 0`
  await tx`
    create temporary table incoming (
      id uuid, position integer, tool text, fingerprint bytea, fingerprint_method text, content_hash bytea,
      kind text, type text, severity text, state text, dismiss_reason text, dismiss_comment text, title text,
      description text, native_url text, path text, start_line integer, end_line integer, package_name text,
      package_version text, fixed_version text, purl text, vuln_ids text[], cwes text[], rule_id text,
      secret_type text, resource_name text, scanner_score real, cvss_version text, cvss_score real, cvss_vector text
    ) on commit drop`
  return openCopy(tx, 'incoming', INCOMING_COLUMNS)
}

/** What the streams of one report have in common. */
export type StreamKey = { org_id: string; repository_no: number; category: string | null; git_ref: string | null }

export type Stream = { id: number; tool: string; reported_at: Date }

/** The streams of a report's tools, made when they are new, locked until the transaction ends. */
export async function lockStreams(
  tx: Tx,
  key: StreamKey,
  tools: string[],
  fresh: { source: string; origin: string; tracked: boolean; at: Date },
): Promise<Stream[]> {
  await tx`
    insert into finding_streams (
      org_id, repository_no, category, git_ref, tool, source, origin, tracked, reported_at, seen_at
    )
    select ${key.org_id}, ${key.repository_no}, ${key.category}, ${key.git_ref}, tool, ${fresh.source}, ${fresh.origin},
      ${fresh.tracked}, '-infinity', ${fresh.at}::timestamptz
    from unnest(${tools}::text[]) tool
    order by tool
    on conflict do nothing`
  return tx<Stream[]>`
    select id, tool, case when reported_at = '-infinity' then 'epoch' else reported_at end as reported_at
    from finding_streams
    where org_id = ${key.org_id}
      and repository_no = ${key.repository_no}
      and coalesce(category, '') = coalesce(${key.category}::text, '')
      and coalesce(git_ref, '') = coalesce(${key.git_ref}::text, '')
      and tool = any(${tools})
    order by tool
    for update`
}

/** Gives every incoming finding its stream, and its place among its equals: by where it is, so that order in the file is nothing. */
export async function keyIncoming(tx: Tx, streams: Stream[]): Promise<void> {
  await tx`
    create temporary table keyed on commit drop as
    select incoming.*, stream.id as stream_id,
      row_number() over (
        partition by stream.id, fingerprint
        order by path, start_line, end_line, content_hash, position
      )::integer - 1 as ordinal
    from incoming
    join unnest(${streams.map((stream) => stream.id)}::bigint[], ${streams.map((stream) => stream.tool)}::text[])
      as stream (id, tool) on stream.tool = incoming.tool`
  await tx`analyze keyed`
}

export type MergeScope = { org_id: string; repository_no: number; streamIds: number[]; at: Date }

/**
 * Brings stored findings in line with what the report says of them. A fixed one that comes back is reopened and keeps
 * its first_seen_at; a dismissal by a person outlives the report. Equal ones are not written. Returns how many changed.
 */
export async function updateChanged(tx: Tx, { org_id, streamIds, at }: MergeScope): Promise<number> {
  const rows = await tx`
    update findings finding
    set content_hash = keyed.content_hash, kind = keyed.kind, type = keyed.type, severity = keyed.severity,
      title = keyed.title, description = keyed.description, native_url = keyed.native_url, path = keyed.path,
      start_line = keyed.start_line, end_line = keyed.end_line, package_name = keyed.package_name,
      package_version = keyed.package_version, fixed_version = keyed.fixed_version, purl = keyed.purl,
      vuln_ids = keyed.vuln_ids, cwes = keyed.cwes, rule_id = keyed.rule_id, secret_type = keyed.secret_type,
      resource_name = keyed.resource_name, scanner_score = keyed.scanner_score, cvss_version = keyed.cvss_version,
      cvss_score = keyed.cvss_score, cvss_vector = keyed.cvss_vector, last_seen_at = null, last_commit_sha = null,
      updated_at = ${at},
      (state, dismiss_reason, dismiss_comment, dismissal_source, dismissed_at) = (
        select choice.state, choice.dismiss_reason, choice.dismiss_comment, choice.dismissal_source, choice.dismissed_at
        from (
          select finding.state, finding.dismiss_reason, finding.dismiss_comment, finding.dismissal_source,
            finding.dismissed_at
          where finding.state = 'dismissed' and finding.dismissal_source is distinct from 'report'
          union all
          select keyed.state, keyed.dismiss_reason, keyed.dismiss_comment, ${dismissalSource(tx)},
            case when keyed.state = 'dismissed' then coalesce(finding.dismissed_at, ${at}) end
          limit 1
        ) choice
      )
    from keyed
    where finding.org_id = ${org_id}
      and finding.stream_id = any(${streamIds})
      and finding.stream_id = keyed.stream_id
      and finding.fingerprint = keyed.fingerprint
      and finding.ordinal = keyed.ordinal
      and (finding.content_hash <> keyed.content_hash or finding.state = 'fixed' or finding.last_seen_at is not null)`
  return rows.count
}

/** Where the report itself says that a result does not count (SARIF suppressions, VEX). */
function dismissalSource(tx: Tx) {
  return tx`case when keyed.state = 'dismissed' then 'report' end`
}

export type NewFindings = { created: number; open: number; critical: number; high: number }

/** Stores what the streams did not hold yet, with what was known at that moment frozen into `intel_at_detection`. */
export async function insertNew(tx: Tx, { org_id, repository_no, streamIds, at }: MergeScope): Promise<NewFindings> {
  const [row] = await tx<[NewFindings]>`
    with created as (
      insert into findings (
        org_id, id, stream_id, repository_no, fingerprint, fingerprint_method, ordinal, content_hash, kind, type,
        severity, state, title, description, native_url, path, start_line, end_line, package_name, package_version,
        fixed_version, purl, vuln_ids, cwes, rule_id, secret_type, resource_name, scanner_score, cvss_version,
        cvss_score, cvss_vector, intel_at_detection, dismiss_reason, dismiss_comment, dismissed_at, dismissal_source,
        first_seen_at, created_at, updated_at
      )
      select ${org_id}, id, stream_id, ${repository_no}, fingerprint, fingerprint_method, ordinal, content_hash, kind,
        type, severity, state, title, description, native_url, path, start_line, end_line, package_name,
        package_version, fixed_version, purl, vuln_ids, cwes, rule_id, secret_type, resource_name, scanner_score,
        cvss_version, cvss_score, cvss_vector, ${intelAtDetection(tx, at)}, dismiss_reason, dismiss_comment,
        case when state = 'dismissed' then ${at}::timestamptz end, ${dismissalSource(tx)},
        ${at}::timestamptz, ${at}::timestamptz, ${at}::timestamptz
      from keyed
      where not exists (
        select from findings finding
        where finding.org_id = ${org_id}
          and finding.stream_id = any(${streamIds})
          and finding.stream_id = keyed.stream_id
          and finding.fingerprint = keyed.fingerprint
          and finding.ordinal = keyed.ordinal
      )
      returning state, severity
    )
    select count(*) as created,
      count(*) filter (where state = 'open') as open,
      count(*) filter (where state = 'open' and severity = 'critical') as critical,
      count(*) filter (where state = 'open' and severity = 'high') as high
    from created`
  return row
}

function intelAtDetection(tx: Tx, at: Date) {
  return tx`
    jsonb_build_object(
      'at', rfc3339(${at}), 'severity', severity, 'scanner_score', scanner_score,
      'cvss', case
        when cvss_vector is not null or cvss_score is not null
        then jsonb_build_object('version', cvss_version, 'score', cvss_score, 'vector', cvss_vector)
      end,
      'epss', null, 'kev', null, 'fix_available', fixed_version is not null, 'backfilled', false
    )`
}

/**
 * Settles what the streams hold and the report does not: it was last seen by the report before this one, and is fixed
 * unless it is to be kept. What a person dismissed stays dismissed. Returns how many were resolved.
 */
export async function settleMissing(
  tx: Tx,
  { org_id, streamIds, at }: MergeScope,
  missing: 'resolve' | 'keep',
): Promise<number> {
  const isResolved = missing === 'keep' ? tx`false` : isReportsToClose(tx)
  const [row] = await tx<[{ resolved: number }]>`
    with missing as (
      update findings finding
      set state = case when ${isResolved} then 'fixed' else finding.state end,
        last_seen_at = coalesce(finding.last_seen_at, stream.seen_at),
        last_commit_sha = case when finding.last_seen_at is null then stream.commit_sha else finding.last_commit_sha end,
        updated_at = ${at}
      from finding_streams stream
      where stream.org_id = ${org_id}
        and stream.id = any(${streamIds})
        and finding.org_id = stream.org_id
        and finding.stream_id = stream.id
        and (${isResolved} or finding.last_seen_at is null)
        and not exists (
          select from keyed
          where keyed.stream_id = finding.stream_id
            and keyed.fingerprint = finding.fingerprint
            and keyed.ordinal = finding.ordinal
        )
      returning finding.state
    )
    select count(*) filter (where state = 'fixed') as resolved
    from missing`
  return row.resolved
}

/** Open, or dismissed by a report and by no person. */
function isReportsToClose(tx: Tx) {
  return tx`(finding.state = 'open' or (finding.state = 'dismissed' and finding.dismissal_source = 'report'))`
}

export type StreamUpdate = {
  source: string
  origin: string
  tracked: boolean
  commit_sha: string | null
  reported_at: Date
}

/** Notes the report as its streams' newest. */
export async function updateStreams(
  tx: Tx,
  orgId: string,
  streams: Stream[],
  tools: ReportTool[],
  update: StreamUpdate,
  at: Date,
) {
  const versions = streams.map(({ tool }) => tools.find(({ name }) => name === tool)?.version ?? null)
  await tx`
    update finding_streams stream
    set tool_version = said.version, source = ${update.source}, origin = ${update.origin}, tracked = ${update.tracked},
      commit_sha = ${update.commit_sha}, reported_at = ${update.reported_at}, seen_at = ${at}
    from unnest(${streams.map((stream) => stream.id)}::bigint[], ${versions}::text[]) as said (id, version)
    where stream.org_id = ${orgId}
      and stream.id = said.id`
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
