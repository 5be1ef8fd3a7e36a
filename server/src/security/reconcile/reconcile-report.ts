import type { Clock } from '../../platform/clock.ts'
import type { ReportSummary } from '../formats/report/parsed-report.ts'
import { lockRepository, type MergeScope } from '../issues/writing/grouping.store.ts'
import type { NewIssues } from '../issues/writing/issue-refresh.store.ts'
import { writeFindings } from './finding-merge.store.ts'
import {
  countOpenBySeverity,
  lockStreams,
  type SeverityCounts,
  type Stream,
  type StreamReport,
} from './finding-stream.store.ts'
import { groupReport } from './group-report.ts'
import type { Incoming } from './incoming.store.ts'
import { judgeStreams } from './judge-streams.ts'
import { pairReport } from './pair-report.ts'
import { hasPairs } from './paired.store.ts'
import { recordReport, refreshReported, type TouchedIssues } from './record-report.store.ts'

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

/** `at` is the time that was stored with the changes. */
type Reconciled = { outcome: ReconcileOutcome; warnings: string[]; at: Date }

/**
 * Brings the stored findings of a report's streams in line with the report. Streams that have a
 * newer report already stay as they are, and the findings of their tools count as unchanged.
 */
export async function reconcileReport(
  incoming: Incoming,
  report: ReportToReconcile,
  clock: Clock,
): Promise<Reconciled> {
  const { tx } = incoming
  const streams = await lockStreams(tx, report, toolNames(report.summary))
  // Read after the locks are taken, so that a transaction that commits later has a later time.
  const at = clock.now()
  const current = streams.filter((stream) => stream.reported_at <= report.reported_at)
  const { warnings, ...merged } = await mergeReport(incoming, report, current, at)
  const openBySeverity = await countOpenBySeverity(tx, report.org_id, streams.map(idOf))
  const outdated = current.length < streams.length ? [OUTDATED] : []
  return { outcome: { ...merged, openBySeverity }, warnings: [...warnings, ...outdated], at }
}

type Merged = Omit<ReconcileOutcome, 'openBySeverity'> & { warnings: string[] }

async function mergeReport(
  incoming: Incoming,
  report: ReportToReconcile,
  streams: readonly Stream[],
  at: Date,
): Promise<Merged> {
  const scope: MergeScope = { org_id: report.org_id, repository_no: report.repository_no, at }
  await lockRepository(incoming.tx, report.org_id, report.repository_no)
  const paired = await pairReport(incoming, scope, streams)
  const judged = judgeStreams(streams, paired.counts, report.summary)
  const grouped = await groupReport(paired)
  const written = await writeFindings(grouped, judged)
  const recorded = await recordReport(
    written,
    report,
    judged.map(({ update }) => update),
  )
  const turned = streams.filter(({ tracked }) => tracked !== report.tracked).map(idOf)
  const touched: TouchedIssues = { issueIds: grouped.touched, streamIds: turned }
  const shown = isAny(touched) || hasPairs(paired, 'absent') ? await refreshReported(recorded, touched) : NONE
  const { created, updated, resolved } = written
  return {
    ...{ created, updated, resolved, unchanged: report.summary.findings - created - updated },
    ...newIssues(grouped.opened, shown),
    warnings: judged.flatMap(({ warning }) => warning ?? []),
  }
}

const NONE: NewIssues = { open: 0, critical: 0, high: 0 }

function isAny({ issueIds, streamIds }: TouchedIssues): boolean {
  return issueIds.length > 0 || streamIds.length > 0
}

function newIssues(opened: NewIssues, shown: NewIssues) {
  return {
    newIssues: opened.open + shown.open,
    newCritical: opened.critical + shown.critical,
    newHigh: opened.high + shown.high,
  }
}

function toolNames({ tools }: ReportSummary): string[] {
  return [...new Set(tools.map(({ name }) => name))].sort()
}

function idOf({ id }: Stream): number {
  return id
}
