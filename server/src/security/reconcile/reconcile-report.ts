import type { Clock } from '../../platform/clock.ts'
import type { Tx } from '../../platform/db/sql.ts'
import type { ReportSummary, ReportTool } from '../formats/report/parsed-report.ts'
import {
  updateEndedDismissals,
  updateInheritedFindings,
  updateTriagedFindings,
} from '../writing/finding-writing.store.ts'
import { lockRepository, type MergeScope, type RepositoryChange } from '../writing/grouping.store.ts'
import { type NewIssues, updateRefreshedIssues } from '../writing/issue-writing.store.ts'
import { insertAlertPairs, upsertAlertLinks } from './alert-pairs.store.ts'
import { listFollowed, listFollowers } from './dismissed-issue.store.ts'
import { listEndedDismissals } from './end-dismissals.ts'
import { upsertFindings, type Written } from './finding-merge.store.ts'
import {
  countOpenBySeverity,
  lockStreams,
  type SeverityCounts,
  type Stream,
  type StreamReport,
} from './finding-stream.store.ts'
import { type GroupedReport, groupReport } from './group-report.ts'
import type { Incoming } from './incoming.store.ts'
import { type Closing, evaluateStreams } from './judge-streams.ts'
import { listSameFindings, matchReport } from './match-report.ts'
import { hasPairs } from './paired.store.ts'
import { type TouchedIssues, updateReportedIssues, updateReportedStreams } from './record-report.store.ts'

const OUTDATED =
  'A newer report of the same tool was processed before this report. This report did not change the findings of that tool.'

export type ReportToReconcile = StreamReport & { summary: ReportSummary }

/** What a report changed: numbers of findings, and of issues that became visible and are open. */
export type ReconcileOutcome = {
  created: number
  updated: number
  unchanged: number
  resolved: number
  /** Open findings of the report's streams afterwards. */
  openBySeverity: SeverityCounts
  newIssues: number
  newCritical: number
  newHigh: number
}

/** The outcome of a file that changed nothing. */
export const NO_OUTCOME: ReconcileOutcome = {
  created: 0,
  updated: 0,
  unchanged: 0,
  resolved: 0,
  openBySeverity: { critical: 0, high: 0, medium: 0, low: 0 },
  newIssues: 0,
  newCritical: 0,
  newHigh: 0,
}

/** `at` is the time that was stored with the changes. */
type Reconciled = { outcome: ReconcileOutcome; warnings: string[]; at: Date }

/**
 * What decides about findings beside the report, like VEX documents. Called with the changed
 * findings stored, if the repository has triages. Returns how many of the new issues it closed.
 */
type Follow = (tx: Tx, change: RepositoryChange) => Promise<NewIssues>

/**
 * Brings the stored findings of a report's streams in line with the report. Streams that have a
 * newer report already stay as they are, and the findings of their tools count as unchanged.
 */
export async function reconcileReport(
  incoming: Incoming,
  report: ReportToReconcile,
  clock: Clock,
  follow: Follow,
): Promise<Reconciled> {
  const { tx } = incoming
  const tools = new Set(report.summary.tools.map(({ name }) => name))
  const streams = await lockStreams(tx, report, [...tools].sort(), clock.now())
  // Read after the locks are taken, so that a transaction that commits later has a later time.
  const at = clock.now()
  const current = streams.filter((stream) => stream.reported_at <= report.reported_at)
  const { warnings, hasTriages, ...merged } = await mergeReport(incoming, report, current, at)
  const isNews = hasTriages && merged.created + merged.updated > 0
  const { org_id, repository_no } = report
  const closed = isNews ? await follow(tx, { org_id, repository_no, at }) : NONE
  for (const stream of current) await continueStream(tx, report, stream, at)
  const openBySeverity = await countOpenBySeverity(tx, report.org_id, streams.map(getStreamId))
  const outdated = current.length < streams.length ? [OUTDATED] : []
  const outcome = { ...merged, ...without(merged, closed), openBySeverity }
  return { outcome, warnings: [...warnings, ...outdated], at }
}

/**
 * The first report of a lane that was stored together with another one: what was decided about its
 * findings there before they were separated holds on (decisions §7).
 */
async function continueStream(tx: Tx, { org_id }: StreamReport, stream: Stream, at: Date): Promise<void> {
  const { id, continues_id, seen_at: until } = stream
  if (continues_id === null) return
  const same = await listSameFindings(tx, org_id, { from: continues_id, into: id })
  const issueIds = await updateInheritedFindings(tx, org_id, { ...same, until }, at)
  if (issueIds.length > 0) await updateRefreshedIssues(tx, org_id, issueIds, at)
}

/** No issues. */
const NONE: NewIssues = { open: 0, critical: 0, high: 0 }

type Counts = Omit<ReconcileOutcome, 'openBySeverity'>
type Merged = Counts & { warnings: string[]; hasTriages: boolean }

async function mergeReport(
  incoming: Incoming,
  report: ReportToReconcile,
  streams: readonly Stream[],
  at: Date,
): Promise<Merged> {
  const { org_id, repository_no } = report
  const { has_triages, has_edits } = await lockRepository(incoming.tx, org_id, repository_no)
  const scope: MergeScope = { org_id, repository_no, has_edits, at }
  incoming.members.assignStreams(streams)
  const paired = await matchReport(incoming, scope, withUnscanned(streams, report.summary))
  const judged = evaluateStreams(streams, paired.counts, report.summary)
  const grouped = await groupReport(paired)
  const written = await writeAndFollow(grouped, judged, has_triages)
  const recorded = await updateReportedStreams(
    written,
    report,
    judged.map(({ update }) => update),
  )
  const turned = streams.filter(({ tracked }) => tracked !== report.tracked).map(getStreamId)
  const touched: TouchedIssues = { issueIds: grouped.touched, streamIds: turned }
  const isAnyTouched = grouped.touched.length > 0 || turned.length > 0 || hasPairs(paired, 'absent')
  const shown = isAnyTouched ? await updateReportedIssues(recorded, touched) : NONE
  const { created, updated, resolved } = written
  return {
    created,
    updated,
    resolved,
    unchanged: report.summary.findings - created - updated,
    ...newIssues(grouped.opened, shown),
    warnings: judged.flatMap(({ warning }) => warning ?? []),
    hasTriages: has_triages,
  }
}

function withUnscanned(streams: readonly Stream[], { tools }: ReportSummary) {
  const unscanned = new Map(tools.map((tool) => [tool.name, tool.unscanned ?? []]))
  return streams.map((stream) => ({ ...stream, unscanned: unscanned.get(stream.tool) ?? [] }))
}

function newIssues(opened: NewIssues, shown: NewIssues) {
  return {
    newIssues: opened.open + shown.open,
    newCritical: opened.critical + shown.critical,
    newHigh: opened.high + shown.high,
  }
}

function without({ newIssues, newCritical, newHigh }: Counts, closed: NewIssues) {
  return {
    newIssues: Math.max(0, newIssues - closed.open),
    newCritical: Math.max(0, newCritical - closed.critical),
    newHigh: Math.max(0, newHigh - closed.high),
  }
}

function getStreamId({ id }: Stream): number {
  return id
}

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
  const streams = await lockStreams(tx, alerts, [...versions.keys()].sort(), clock.now())
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

/**
 * Writes the findings. A dismissal ends if something else is reported than what was looked at. New
 * findings, and fixed ones that come back, are dismissed if a person has dismissed all other
 * findings of their issue. `hasTriages` is false if nobody triaged in the
 * repository, so that most reports skip this.
 */
async function writeAndFollow(
  grouped: GroupedReport,
  judged: readonly { id: number; closing: Closing }[],
  hasTriages: boolean,
): Promise<Written> {
  if (!hasTriages || grouped.touched.length === 0) return upsertFindings(grouped, judged)
  const { tx, scope } = grouped.paired
  const followed = await listFollowed(tx, scope.org_id, grouped.touched)
  const ended = await listEndedDismissals(grouped.paired)
  const written = await upsertFindings(grouped, judged)
  await updateEndedDismissals(tx, scope.org_id, ended, { at: scope.at })
  for (const [triageId, findingIds] of await listFollowers(tx, scope.org_id, followed))
    await updateTriagedFindings(tx, scope.org_id, { triageId, findingIds, at: scope.at })
  return written
}
