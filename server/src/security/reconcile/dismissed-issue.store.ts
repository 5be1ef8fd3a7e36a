import { buildAverageId, buildSpreadCondition } from '../../platform/db/spread.ts'
import type { Tx } from '../../platform/db/sql.ts'
import type { MergeScope } from '../writing/grouping.store.ts'
import { buildLaneRank, buildStreamLane } from '../writing/lane.store.ts'
import type { TriageScope } from '../writing/triage.store.ts'
import type { LookedAt } from './matching/decided-marks.ts'
import type { Paired } from './paired.store.ts'

/**
 * An issue whose findings a person has dismissed, the triage of the strongest lane that was looked
 * at, the newest of these, and the rank of this lane. Also the findings whose alert was dismissed.
 */
type FollowedIssue = { issue_id: string; triage_id: string; lane_rank: number; of_alerts: string[] }

/**
 * The issues among these in which a person has dismissed every finding that is not fixed. To be
 * read after stored findings were moved to their issues, and before new ones are written: an open
 * finding that joined the issue is not hidden.
 */
export async function listFollowed(tx: Tx, orgId: string, issueIds: readonly string[]): Promise<FollowedIssue[]> {
  const rank = buildLaneRank(tx, buildStreamLane(tx, orgId, tx`stream`))
  return tx<FollowedIssue[]>`
    select finding.issue_id,
      (array_agg(own.triage_id order by ${rank} desc, own.triage_id desc))[1] as triage_id, max(${rank}) as lane_rank,
      coalesce(array_agg(finding.id) filter (where finding.triaged_state is null), '{}') as of_alerts
    from (select distinct issue_id from unnest(${[...issueIds]}::uuid[]) issue_id) touched
    join findings finding on finding.org_id = ${buildAverageId(tx, orgId)} and finding.issue_id = touched.issue_id
    join finding_streams stream on stream.org_id = finding.org_id and stream.id = finding.stream_id
    left join lateral ${dismissalByPerson(tx, orgId)} own on finding.state = 'dismissed'
    where finding.state <> 'fixed'
    group by finding.issue_id
    having bool_and(own.triage_id is not null)`
}

/** The triage by which a person dismissed a row `finding`: itself, or its alert. */
function dismissalByPerson(tx: Tx, orgId: string) {
  return tx`(
    select triage.id as triage_id
    from triages triage
    where finding.triaged_state = 'dismissed'
      and triage.org_id = finding.org_id ${buildSpreadCondition(tx, 'triage', orgId)}
      and triage.id = finding.triage_id
      and triage.source = 'shiplock'
    union all
    (
      select triage.id
      from alert_findings link
      join triage_alerts part on part.org_id = link.org_id and part.alert_id = link.alert_id
      join triages triage on triage.org_id = part.org_id and triage.id = part.triage_id
      where finding.triaged_state is null
        and finding.reported_dismissal_source = 'shiplock'
        and link.org_id = finding.org_id
        ${buildSpreadCondition(tx, 'link', orgId)} ${buildSpreadCondition(tx, 'part', orgId)} ${buildSpreadCondition(tx, 'triage', orgId)}
        and link.finding_id = finding.id
        and triage.action = 'dismiss'
        and triage.ended_at is null
      order by part.no desc
      limit 1
    )
  )`
}

/**
 * The open findings of followed issues, by the triage that they follow. They are new or were fixed,
 * because no open finding was in these issues before. A finding that a person reopened stays open,
 * and so does one of a stronger lane than the one that was looked at, or that repeats no dismissed
 * finding that is still reported (decisions §8). An issue is no longer followed if one of its
 * alerts was opened again.
 */
export async function listFollowers(
  tx: Tx,
  orgId: string,
  followed: readonly FollowedIssue[],
): Promise<Map<string, string[]>> {
  if (followed.length === 0) return new Map()
  const ofAlerts = followed.flatMap(({ of_alerts }) => of_alerts)
  const rank = buildLaneRank(tx, buildStreamLane(tx, orgId, tx`stream`))
  const follows = tx`${rank} <= followed.lane_rank and (decision.scope = 'vulnerability' or ${repeatsDismissed(tx, orgId)})`
  const rows = await tx<{ triage_id: string; finding_ids: string[] | null }[]>`
    select followed.triage_id, array_agg(finding.id) filter (where ${follows}) as finding_ids
    from unnest(
      ${followed.map(({ issue_id }) => issue_id)}::uuid[], ${followed.map(({ triage_id }) => triage_id)}::uuid[],
      ${followed.map(({ lane_rank }) => lane_rank)}::integer[]
    ) as followed (issue_id, triage_id, lane_rank)
    join triages decision on decision.org_id = ${buildAverageId(tx, orgId)} and decision.id = followed.triage_id
    join findings finding on finding.org_id = decision.org_id and finding.issue_id = followed.issue_id
    join finding_streams stream on stream.org_id = finding.org_id and stream.id = finding.stream_id
    where finding.state = 'open'
    group by followed.issue_id, followed.triage_id
    having not bool_or(finding.id = any(${ofAlerts}::uuid[]))
      and bool_and(finding.triaged_state is null)`
  const followers = new Map<string, string[]>()
  for (const { triage_id, finding_ids } of rows)
    if (finding_ids !== null) followers.set(triage_id, [...(followers.get(triage_id) ?? []), ...finding_ids])
  return followers
}

/**
 * Whether a dismissed finding of the issue of a row `finding` of a row `stream` is still reported
 * in a lane that is not weaker, at the same place with the same marks: those of its scanner, or the
 * text or the package of another one (decisions §8). An alert has neither text nor fingerprint.
 */
function repeatsDismissed(tx: Tx, orgId: string): ReturnType<Tx> {
  const rankOf = (of: ReturnType<Tx>) => buildLaneRank(tx, buildStreamLane(tx, orgId, of))
  const isSameOrUnstated = (one: ReturnType<Tx>, other: ReturnType<Tx>) =>
    tx`(${one} = ${other} or ${one} is null or ${other} is null)`
  return tx`exists (
    select from findings dismissed
    join finding_streams reporting on reporting.org_id = dismissed.org_id and reporting.id = dismissed.stream_id
    where dismissed.org_id = ${buildAverageId(tx, orgId)}
      and dismissed.issue_id = finding.issue_id
      and dismissed.state = 'dismissed'
      and ${rankOf(tx`reporting`)} >= ${rankOf(tx`stream`)}
      and (dismissed.last_seen_at is null or reporting.origin = 'alert')
      and dismissed.path is not distinct from finding.path
      and dismissed.package_version is not distinct from finding.package_version
      and (
        dismissed.context = finding.context
        or (
          dismissed.package_name is not null
          and (dismissed.purl = finding.purl or dismissed.package_name = finding.package_name)
        )
        or (
          dismissed.fingerprint = finding.fingerprint
          and ${isSameOrUnstated(tx`dismissed.context`, tx`finding.context`)}
          and (dismissed.start_column, dismissed.end_column) is not distinct from (finding.start_column, finding.end_column)
          and dismissed.description is not distinct from finding.description
        )
        or (
          (reporting.origin = 'alert') <> (stream.origin = 'alert')
          and reporting.tool = stream.tool
          and dismissed.rule_id = finding.rule_id
          and dismissed.description = finding.description
          and dismissed.start_line <= coalesce(finding.end_line, finding.start_line)
          and finding.start_line <= coalesce(dismissed.end_line, dismissed.start_line)
          and ${isSameOrUnstated(tx`dismissed.start_column`, tx`finding.start_column`)}
          and ${isSameOrUnstated(tx`dismissed.end_column`, tx`finding.end_column`)}
        )
      )
  )`
}

/** A dismissed finding that the report changes: what was looked at, and what is reported now. */
export type ChangedDismissal = {
  finding_id: string
  /** Null if nobody dismissed it: its wording counts beside that of others of its rule. */
  reason: string | null
  scope: TriageScope | null
  identity_method: string | null
  /** Whether its stream had no report since an upgrade that reads paths in another way. */
  is_upgraded: boolean
  rule_id: string | null
  before: LookedAt
  after: LookedAt
}

const READ_AT_ONCE = 1000

/**
 * The findings that a person dismissed and the report changes, and the others of their rules whose
 * messages it changes. To be read before they are written.
 */
export function listChangedDismissals({ tx, scope }: Paired): AsyncIterable<ChangedDismissal[]> {
  const orgId = scope.org_id
  return tx<ChangedDismissal[]>`
    with changed as materialized (
      select paired.position, paired.finding_id, paired.identity_method, stream.reports = 0 as is_upgraded,
        incoming.rule_id, decision.reason, decision.scope
      from paired
      join incoming using (position)
      join finding_streams stream on stream.org_id = ${buildAverageId(tx, orgId)} and stream.id = paired.stream_id
      join findings finding on finding.org_id = ${buildAverageId(tx, orgId)} and finding.id = paired.finding_id
      left join triages decision
        on decision.org_id = finding.org_id ${buildSpreadCondition(tx, 'decision', orgId)}
        and decision.id = finding.triage_id
        and finding.triaged_state = 'dismissed'
        and decision.source = 'shiplock'
      where paired.is_changed
        and incoming.alert_id is null
        and (decision.id is not null or finding.description is distinct from incoming.description)
    )
    select changed.finding_id, changed.reason, changed.scope, changed.identity_method, changed.is_upgraded, changed.rule_id,
      ${lookedAt(tx, tx`finding`)} as before, ${lookedAt(tx, tx`incoming`)} as after
    from changed
    join incoming using (position)
    join findings finding on finding.org_id = ${buildAverageId(tx, orgId)} and finding.id = changed.finding_id
    where coalesce(changed.rule_id, '') in (select coalesce(rule_id, '') from changed where reason is not null)`.cursor(
    READ_AT_ONCE,
  )
}

function lookedAt(tx: Tx, of: ReturnType<Tx>) {
  return tx`
    json_build_object(
      'kind', ${of}.kind, 'path', ${of}.path, 'start_line', ${of}.start_line, 'end_line', ${of}.end_line,
      'start_column', ${of}.start_column, 'end_column', ${of}.end_column, 'package_name', ${of}.package_name,
      'package_version', ${of}.package_version, 'vuln_ids', ${of}.vuln_ids, 'resource_name', ${of}.resource_name,
      'fingerprint', encode(${of}.fingerprint, 'hex'), 'fingerprint_method', ${of}.fingerprint_method,
      'relocation', encode(substring(${of}.relocation for 16), 'hex'), 'context', encode(${of}.context, 'hex'),
      'description', ${of}.description
    )`
}

/** What makes a finding that was looked at like one that followed, the most telling first. */
const LIKE = ['path, context, fingerprint', 'path, context', 'path, fingerprint', 'path', 'context', 'fingerprint', '']

/**
 * The findings of some buckets that only followed the dismissal of others, beside the one of those
 * that is most like them.
 */
export function listFollowing(
  tx: Tx,
  { org_id: orgId, repository_no }: Pick<MergeScope, 'org_id' | 'repository_no'>,
  buckets: readonly string[],
): AsyncIterable<ChangedDismissal[]> {
  const marks = (of: ReturnType<Tx>): ReturnType<Tx> =>
    tx`coalesce(${of}.path, '') as path, coalesce(${of}.context, '') as context, ${of}.fingerprint`
  // One finding for each value: the rows are no product of those that followed and all parts.
  const alike = LIKE.map((columns, at): ReturnType<Tx> => {
    const key = tx.unsafe(columns === '' ? 'triage_id' : `triage_id, ${columns}`)
    return tx`left join (
        select distinct on (${key}) ${key}, id
        from looked
        order by ${key}, id
      ) ${tx.unsafe(`alike_${at}`)} using (${key})`
  })
  const seenId = tx.unsafe(LIKE.map((_, at) => `alike_${at}.id`).join(', '))
  return tx<ChangedDismissal[]>`
    with following as materialized (
      select finding.id as finding_id, decision.id as triage_id, decision.reason, decision.scope, ${marks(tx`finding`)}
      from (select decode(hex, 'hex') as bucket from unnest(${buckets}::text[]) hex) touched
      join security_issues issue
        on issue.org_id = ${buildAverageId(tx, orgId)}
        and issue.repository_no = ${buildAverageId(tx, repository_no)}
        and issue.bucket = touched.bucket
        and issue.merged_into is null
      join findings finding on finding.org_id = issue.org_id and finding.issue_id = issue.id
      join triages decision
        on decision.org_id = finding.org_id ${buildSpreadCondition(tx, 'decision', orgId)}
        and decision.id = finding.triage_id
      where finding.triaged_state = 'dismissed'
        and decision.source = 'shiplock'
        and decision.scope = 'issue'
        and decision.target_type <> 'alert'
        and not ${wasDecided(tx, tx`finding`)}
    ),
    looked as materialized (
      select looked.id, decision.id as triage_id, ${marks(tx`looked`)}
      from triages decision
      join triage_findings part
        on part.org_id = decision.org_id ${buildSpreadCondition(tx, 'part', orgId)}
        and part.triage_id = decision.id
      join findings looked
        on looked.org_id = part.org_id ${buildSpreadCondition(tx, 'looked', orgId)}
        and looked.id = part.finding_id
      where decision.org_id = ${buildAverageId(tx, orgId)}
        and decision.id in (select triage_id from following)
        and ${wasDecided(tx, tx`looked`)}
    )
    select following.finding_id, following.reason, following.scope, null as identity_method, false as is_upgraded,
      finding.rule_id, ${lookedAt(tx, tx`seen`)} as before, ${lookedAt(tx, tx`finding`)} as after
    from following
    ${alike.reduce((joins, join): ReturnType<Tx> => tx`${joins} ${join}`)}
    join findings seen on seen.org_id = ${buildAverageId(tx, orgId)} and seen.id = coalesce(${seenId})
    join findings finding on finding.org_id = ${buildAverageId(tx, orgId)} and finding.id = following.finding_id`.cursor(
    READ_AT_ONCE,
  )
}

/**
 * Whether a row `decision` was made about a finding itself, or about its issue when the finding was
 * there.
 */
function wasDecided(tx: Tx, of: ReturnType<Tx>): ReturnType<Tx> {
  return tx`case decision.target_type
    when 'finding' then ${of}.id::text = any(decision.target_ids)
    else ${of}.created_at <= decision.created_at
  end`
}
