import { buildAverageId, buildSpreadCondition } from '../../platform/db/spread.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { buildLaneRank, buildStreamLane } from '../writing/lane.store.ts'

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
 * and so does one of a stronger lane than the one that was looked at, or at a place where no
 * dismissed finding is still reported (decisions §7). An issue is no longer followed if one of its
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
  const follows = tx`${rank} <= followed.lane_rank and ${isAtDismissedPlace(tx, orgId)}`
  const rows = await tx<{ triage_id: string; finding_ids: string[] | null }[]>`
    select followed.triage_id, array_agg(finding.id) filter (where ${follows}) as finding_ids
    from unnest(
      ${followed.map(({ issue_id }) => issue_id)}::uuid[], ${followed.map(({ triage_id }) => triage_id)}::uuid[],
      ${followed.map(({ lane_rank }) => lane_rank)}::integer[]
    ) as followed (issue_id, triage_id, lane_rank)
    join findings finding on finding.org_id = ${buildAverageId(tx, orgId)} and finding.issue_id = followed.issue_id
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
 * at its place, in a lane that is not weaker. Tools and code hosts make fingerprints of their own,
 * so that lines that overlap are one place too. Another version of a package is another place.
 */
function isAtDismissedPlace(tx: Tx, orgId: string): ReturnType<Tx> {
  const rankOf = (of: ReturnType<Tx>) => buildLaneRank(tx, buildStreamLane(tx, orgId, of))
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
        dismissed.fingerprint = finding.fingerprint
        or dismissed.package_name = finding.package_name
        or (
          dismissed.path is not null
          and dismissed.start_line <= coalesce(finding.end_line, finding.start_line)
          and finding.start_line <= coalesce(dismissed.end_line, dismissed.start_line)
        )
      )
  )`
}
