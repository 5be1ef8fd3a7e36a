import type { Clock } from '../../platform/clock.ts'
import type { ReportTool } from '../formats/report/parsed-report.ts'
import { lockRepository, type MergeScope } from '../issues/writing/grouping.store.ts'
import { insertAlertPairs, upsertAlertLinks } from './alert-pairs.store.ts'
import { lockStreams, type StreamReport } from './finding-stream.store.ts'
import { writeAndFollow } from './follow-triages.ts'
import { groupReport } from './group-report.ts'
import type { Incoming } from './incoming.store.ts'
import { updateReportedIssues, updateReportedStreams } from './record-report.store.ts'

/** Alerts of one repository and ref, and the tools that raised them. */
type AlertsToReconcile = StreamReport & { tools: readonly ReportTool[] }

/**
 * Brings the findings of alerts in line with them: by the steps of a report, but no finding is
 * compared or missing. Findings of other alerts stay as they are. Returns whether any finding
 * changed.
 */
export async function reconcileAlerts(incoming: Incoming, alerts: AlertsToReconcile, clock: Clock): Promise<boolean> {
  const { tx, members } = incoming
  const versions = new Map(alerts.tools.map(({ name, version }) => [name, version]))
  const streams = await lockStreams(tx, alerts, [...versions.keys()].sort())
  const { org_id, repository_no } = alerts
  const at = clock.now()
  const { has_triages, has_edits } = await lockRepository(tx, org_id, repository_no)
  const scope: MergeScope = { org_id, repository_no, has_edits, at }
  members.assignStreams(streams)
  const grouped = await groupReport(await insertAlertPairs(incoming, scope, streams))
  const written = await writeAndFollow(grouped, [], has_triages)
  const updates = streams.map(({ id, tool }) => ({ id, tool_version: versions.get(tool) ?? null, rules_named: null }))
  const recorded = await updateReportedStreams(written, alerts, updates)
  const issueIds = [...grouped.touched, ...(await upsertAlertLinks(recorded))]
  const streamIds = streams.filter(({ tracked }) => tracked !== alerts.tracked).map(({ id }) => id)
  await updateReportedIssues(recorded, { issueIds, streamIds })
  return written.created + written.updated > 0
}
