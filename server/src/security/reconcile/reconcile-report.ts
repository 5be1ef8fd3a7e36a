import type { Clock } from '../../platform/clock.ts'
import type { Tx } from '../../platform/db/sql.ts'
import {
  formatReportedTool,
  type ReportedScope,
  type ReportSummary,
  type ReportTool,
} from '../formats/report/parsed-report.ts'
import { normalizeToolName } from '../vocabulary/stream-name.ts'
import {
  updateEndedDismissals,
  updateInheritedFindings,
  updateMovedFindings,
  updateStreamOfFindings,
  updateTriagedFindings,
} from '../writing/finding-writing.store.ts'
import { lockRepository, type MergeScope, type RepositoryChange } from '../writing/grouping.store.ts'
import { countOpenIssues, type NewIssues, updateRefreshedIssues } from '../writing/issue-writing.store.ts'
import {
  deleteElsewherePairs,
  type EarlierStream,
  hasMostFindings,
  hasOpenFindings,
  lockEarlierStreams,
  updateContinuing,
} from './continued-stream.store.ts'
import { listFollowed, listFollowers } from './dismissed-issue.store.ts'
import { listEndedDismissals } from './end-dismissals.ts'
import { upsertFindings, type Written } from './finding-merge.store.ts'
import {
  countOpenBySeverity,
  countOpenOfKeys,
  deleteReplaced,
  lockStreams,
  type ReplacedStream,
  type SeverityCounts,
  type Stream,
  type StreamKey,
  type StreamReport,
} from './finding-stream.store.ts'
import { type GroupedReport, groupReport } from './group-report.ts'
import type { Incoming } from './incoming.store.ts'
import {
  type Completeness,
  evaluateStreams,
  isOtherImage,
  isPartOfScan,
  type JudgedStream,
  toFacts,
} from './judge-streams.ts'
import { listSameFindings, matchReport } from './match-report.ts'
import type { ReportedStream } from './pair-exactly.store.ts'
import { countPairs, hasPairs, type Paired } from './paired.store.ts'
import {
  type Recorded,
  type TouchedIssues,
  updateReportedIssues,
  updateReportedStreams,
} from './record-report.store.ts'
import { insertStatedPairs } from './stated-pairs.store.ts'
import { countSimilarStreams, updateEndedStream } from './stream.store.ts'

const OUTDATED =
  'A newer report of the same tool was processed before this report. This report did not change the findings of that tool.'

export type ReportToReconcile = StreamReport &
  Completeness & {
    summary: ReportSummary
    /** Whether it was read before, so that it is no part to add to a newer one. */
    was_read: boolean
    /**
     * What the stored file of an earlier upload states of its tools; nothing if it cannot be read.
     */
    readTools: (uploadId: string) => Promise<readonly ReportTool[]>
  }

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

/** The findings that a report lacks without closing them, and why. */
export type HeldFindings = { findings: number; reasons: readonly string[] }

/** `at` is the time that was stored with the changes. */
type Reconciled = {
  outcome: ReconcileOutcome
  held: HeldFindings | null
  warnings: string[]
  at: Date
  replaced: ReplacedReports | null
}

/** The reports that this one replaces: their tools, and when the oldest of them was read. */
export type ReplacedReports = { tools: string[]; since: Date }

/**
 * What decides about findings beside the report, like VEX documents. Called with the changed
 * findings stored, if the repository has triages; `ofAll` if what decides about the others may have
 * changed, too. Returns how many of the new issues it closed.
 */
type Follow = (tx: Tx, change: RepositoryChange, ofAll: boolean) => Promise<NewIssues>

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
  const tools = groupTools(report.summary.tools)
  const keyed = tools.filter(({ isUnscanned }) => !isUnscanned)
  const locked = await lockStreams(tx, report, keyed, clock.now())
  const streams = locked.streams.map((stream) => {
    const isOf = (of: KeyedTool) => of.tool_family === stream.tool_family && of.subject === stream.subject
    const { names, reported } = keyed.find(isOf) as KeyedTool
    const into = locked.replaced.find(({ from }) => from === stream.continues_id)?.into
    const continues_id = into ?? stream.continues_id
    const isInParts = stream.parts_since !== null || isPartOfScan(stream, report)
    return { ...stream, continues_id, names, reported, unscanned: reported.unscanned ?? [], isInParts }
  })
  const earlier = await lockEarlierStreams(tx, report, locked.streams)
  // Read after the locks are taken, so that a transaction that commits later has a later time.
  const at = clock.now()
  const isAdded = (stream: Stream) => !report.was_read && isPartOfScan(stream, report)
  const current = streams.filter((stream) => stream.reported_at <= report.reported_at || isAdded(stream))
  await findStoredFacts(current, earlier, report)
  const { warnings, hasTriages, held, hasOtherImage, ...merged } = await mergeReport(
    incoming,
    report,
    { ...locked, streams: current, earlier },
    at,
  )
  const unscanned = await holdUnscanned(
    tx,
    report,
    tools.filter(({ isUnscanned }) => isUnscanned),
  )
  const isNews = hasTriages && (hasOtherImage || merged.created + merged.updated > 0)
  const { org_id, repository_no } = report
  const closed = isNews ? await follow(tx, { org_id, repository_no, at }, hasOtherImage) : NONE
  const inherited: NewIssues[] = []
  for (const stream of current) inherited.push(await continueStream(tx, report, stream, at))
  const openBySeverity = await countOpenBySeverity(tx, report.org_id, streams.map(getStreamId))
  const outdated = current.length < streams.length ? [OUTDATED] : []
  const outcome = { ...merged, ...[closed, ...inherited].reduce(without, merged), openBySeverity }
  const known = current.filter(({ seen_at, continues_id }) => seen_at.getTime() > 0 && continues_id === null)
  const since = new Date(Math.min(...known.map(({ seen_at }) => seen_at.getTime())))
  const replaced = known.length === 0 ? null : { tools: known.map(({ tool }) => tool), since }
  return {
    outcome,
    held: combineHeld([held, unscanned.held]),
    warnings: [...warnings, ...unscanned.warnings, ...outdated],
    at,
    replaced,
  }
}

/** A tool of which no run has results did not scan: its streams stay as they are. */
async function holdUnscanned(
  tx: Tx,
  report: StreamReport,
  keyed: readonly KeyedTool[],
): Promise<{ held: HeldFindings | null; warnings: string[] }> {
  const findings = keyed.length === 0 ? 0 : await countOpenOfKeys(tx, report, keyed)
  if (findings === 0) return { held: null, warnings: [] }
  const reasons = keyed.flatMap(({ reported }) => reported.incomplete ?? [])
  const [tool] = keyed.map(({ reported }) => reported.name)
  return { held: { findings, reasons }, warnings: [`No findings of ${tool} were closed. ${reasons[0]}`] }
}

function combineHeld(all: readonly (HeldFindings | null)[]): HeldFindings | null {
  const held = all.filter((each) => each !== null)
  if (held.length === 0) return null
  return {
    findings: held.reduce((sum, { findings }) => sum + findings, 0),
    reasons: [...new Set(held.flatMap(({ reasons }) => reasons))],
  }
}

/**
 * The first report of a lane that was stored together with another one: what was decided about its
 * findings there before they were separated holds on (decisions §7). Returns how many issues that
 * the report opened it closed.
 */
async function continueStream(tx: Tx, { org_id }: StreamReport, stream: Stream, at: Date): Promise<NewIssues> {
  const { id, continues_id, seen_at: until } = stream
  if (continues_id === null) return NONE
  const same = await listSameFindings(tx, org_id, { from: continues_id, into: id })
  const issueIds = await updateInheritedFindings(tx, org_id, { ...same, until }, at)
  if (issueIds.length === 0) return NONE
  const before = await countOpenIssues(tx, org_id, issueIds)
  await updateRefreshedIssues(tx, org_id, issueIds, at)
  const after = await countOpenIssues(tx, org_id, issueIds)
  return { open: before.open - after.open, critical: before.critical - after.critical, high: before.high - after.high }
}

/** No issues. */
const NONE: NewIssues = { open: 0, critical: 0, high: 0 }

/** The tools of a report whose findings are in one stream, and what it states of them together. */
type KeyedTool = StreamKey & { isUnscanned: boolean; names: string[]; reported: ReportTool }

/** Several runs of one tool about one subject are one report. */
function groupTools(tools: readonly ReportTool[]): KeyedTool[] {
  const byKey = Map.groupBy(tools, ({ name, subject }) => formatReportedTool(normalizeToolName(name), subject))
  return [...byKey.values()].map((same) => {
    const [{ name, subject = null }] = same as [ReportTool]
    return {
      tool: name,
      tool_family: normalizeToolName(name),
      subject,
      isUnscanned: same.every((tool) => tool.isUnscanned === true),
      names: same.map((tool) => formatReportedTool(tool.name, tool.subject)),
      reported: same.reduce(mergeTools),
    }
  })
}

function mergeTools(one: ReportTool, other: ReportTool): ReportTool {
  const { incomplete = one.incomplete } = other
  const [first, second] = [one.scope, other.scope]
  const scope = first &&
    second && {
      files: first.files + second.files,
      rules: first.rules + second.rules,
      hasFile: (path: string) => first.hasFile(path) || second.hasFile(path),
      hasRule: (id: string) => first.hasRule(id) || second.hasRule(id),
    }
  return {
    ...one,
    ...(incomplete === undefined ? {} : { incomplete }),
    failures: [...(one.failures ?? []), ...(other.failures ?? [])],
    unscanned: [...(one.unscanned ?? []), ...(other.unscanned ?? [])],
    unrunRules: [...(one.unrunRules ?? []), ...(other.unrunRules ?? [])],
    gone: new Set([...(one.gone ?? []), ...(other.gone ?? [])]),
    ...((scope ?? first ?? second) ? { scope: (scope ?? first ?? second) as ReportedScope } : {}),
  }
}

type Counts = Omit<ReconcileOutcome, 'openBySeverity'>
type Merged = Counts & {
  held: HeldFindings | null
  warnings: string[]
  hasTriages: boolean
  hasOtherImage: boolean
}

async function mergeReport(
  incoming: Incoming,
  report: ReportToReconcile,
  locked: StreamsToMerge,
  at: Date,
): Promise<Merged> {
  const { org_id, repository_no } = report
  const { has_triages, has_edits } = await lockRepository(incoming.tx, org_id, repository_no)
  // Streams that were stored before they had keys, and have the key of another one, go on in it.
  for (const stream of locked.replaced)
    await updateStreamOfFindings(incoming.tx, org_id, { ...stream, isReplaced: true }, at)
  if (locked.replaced.length > 0) await deleteReplaced(incoming.tx, org_id, locked.replaced)
  const streams = await continueEarlier(incoming.tx, org_id, locked, at)
  const scope: MergeScope = { org_id, repository_no, has_edits, at }
  incoming.members.assignStreams(streams)
  const paired = await returnElsewhere(await matchReport(incoming, scope, streams, report.commit_sha), streams)
  const judged = await evaluateStreams(paired, streams, report)
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
    held: combineHeld(judged.map(({ update }) => update.held)),
    warnings: [
      ...judged.flatMap((stream) => stream.warnings),
      ...(await listCategoryWarnings(incoming.tx, report, streams)),
    ],
    hasTriages: has_triages,
    hasOtherImage: judged.some(({ update }, at) => isOtherImage(streams[at] as Stream, update)),
  }
}

/**
 * What is normal for the tool of a stream that was stored before reports were compared: what its
 * newest stored file states.
 */
async function findStoredFacts(
  streams: readonly Stream[],
  earlier: StreamsToMerge['earlier'],
  { upload_id, readTools }: ReportToReconcile,
): Promise<void> {
  const read = new Map<string, readonly ReportTool[]>()
  for (const stream of streams) {
    const before = earlier.get(stream.id) ?? stream
    if (before.facts !== null || before.upload_id === null || before.upload_id === upload_id) continue
    const stored = read.get(before.upload_id) ?? (await readTools(before.upload_id))
    read.set(before.upload_id, stored)
    const tools = stored.filter(({ name }) => normalizeToolName(name) === stream.tool_family)
    if (tools.length > 0) before.facts = toFacts(tools.reduce(mergeTools))
  }
}

type StreamsToMerge = {
  streams: readonly ReportedStream[]
  replaced: readonly ReplacedStream[]
  /** By the id of a new stream. */
  earlier: ReadonlyMap<number, EarlierStream>
}
type ContinuedStream = ReportedStream & { continued_id?: number }

/**
 * The first report with a category or subject continues the stream without one if it has most of
 * its findings: a scanner began to name what it scans.
 */
async function continueEarlier(
  tx: Tx,
  orgId: string,
  { streams, earlier }: StreamsToMerge,
  at: Date,
): Promise<ContinuedStream[]> {
  const continued: ContinuedStream[] = []
  for (const stream of streams) {
    const from = earlier.get(stream.id)
    if (from === undefined || !(await hasMostFindings(tx, orgId, stream, from))) {
      continued.push(stream)
      continue
    }
    await updateStreamOfFindings(tx, orgId, { from: from.id, into: stream.id, isReplaced: false }, at)
    await updateContinuing(tx, orgId, stream.id, from)
    const { id, ...state } = from
    // Other categories continue the rest.
    const own = { tool: stream.tool, subject: stream.subject, isInParts: true }
    continued.push({ ...stream, ...state, ...own, continued_id: id })
  }
  return continued
}

/**
 * What the report cannot tell of stays in the stream that was continued, which ends if that is
 * nothing.
 */
async function returnElsewhere(paired: Paired, streams: readonly ContinuedStream[]): Promise<Paired> {
  const { tx, scope } = paired
  const continued = streams.filter(({ continued_id }) => continued_id !== undefined)
  if (continued.length === 0) return paired
  for (const { id, continued_id, names } of continued) {
    const from = continued_id as number
    const elsewhere = await deleteElsewherePairs(tx, scope.org_id, id)
    if (elsewhere.length > 0) await updateMovedFindings(tx, scope.org_id, elsewhere, from)
    if (await hasOpenFindings(tx, scope.org_id, from)) continue
    const reason = `The reports of ${names[0]?.split('\n')[0]} go on in the stream ${id}, with a category or subject.`
    await updateEndedStream(tx, scope.org_id, from, { at: scope.at, reason, by_name: 'Shiplock' })
  }
  return { ...paired, counts: await countPairs(tx) }
}

/**
 * From this many on, categories that were reported once each and differ in numbers get a warning.
 */
const SIMILAR_MIN = 3

async function listCategoryWarnings(tx: Tx, report: StreamReport, streams: readonly Stream[]): Promise<string[]> {
  const { category } = report
  if (category === null || !/\d|[a-f]{7}/.test(category) || streams.length === 0) return []
  const similar = await countSimilarStreams(tx, report.org_id, streams.map(getStreamId))
  if (similar < SIMILAR_MIN) return []
  return [
    `The category ${category} is one of ${similar} that differ only in numbers, dates or hashes and were reported once: no report closes the findings of the others. Send one category, and end the other streams.`,
  ]
}

function newIssues(opened: NewIssues, shown: NewIssues) {
  return {
    newIssues: opened.open + shown.open,
    newCritical: opened.critical + shown.critical,
    newHigh: opened.high + shown.high,
  }
}

function without({ newIssues, newCritical, newHigh, ...counts }: Counts, closed: NewIssues): Counts {
  return {
    ...counts,
    newIssues: Math.max(0, newIssues - closed.open),
    newCritical: Math.max(0, newCritical - closed.critical),
    newHigh: Math.max(0, newHigh - closed.high),
  }
}

function getStreamId({ id }: Stream): number {
  return id
}

/** Findings of one repository and ref that state themselves whether they are open. */
type StatedReport = StreamReport & {
  keys: readonly StreamKey[]
  /** The version of each tool. */
  versions: ReadonlyMap<string, string | null>
  /** Notes what the findings are of. Returns issues to refresh. */
  link: (recorded: Recorded) => Promise<readonly string[]>
}

/**
 * Brings the findings of alerts, or of matches of the inventory, in line with them: by the steps of
 * a report, but no finding is compared or missing. Other findings of the streams stay as they are.
 * Returns whether any finding changed.
 */
export async function reconcileStated(incoming: Incoming, report: StatedReport, clock: Clock): Promise<boolean> {
  const { tx, members } = incoming
  const locked = await lockStreams(tx, report, report.keys, clock.now())
  const streams = locked.streams.map((stream) => ({
    ...stream,
    names: [formatReportedTool(stream.tool, stream.subject)],
  }))
  const { org_id, repository_no } = report
  const at = clock.now()
  const { has_triages, has_edits } = await lockRepository(tx, org_id, repository_no)
  const scope: MergeScope = { org_id, repository_no, has_edits, at }
  members.assignStreams(streams)
  const grouped = await groupReport(await insertStatedPairs(incoming, scope, streams))
  const written = await writeAndFollow(grouped, [], has_triages)
  const updates = streams.map(({ id, tool }) => ({
    id,
    tool,
    tool_version: report.versions.get(tool) ?? null,
    facts: null,
    held: null,
    parts_since: null,
  }))
  const recorded = await updateReportedStreams(written, report, updates)
  const issueIds = [...grouped.touched, ...(await report.link(recorded))]
  const streamIds = streams.filter(({ tracked }) => tracked !== report.tracked).map(({ id }) => id)
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
  judged: readonly Pick<JudgedStream, 'id' | 'kept'>[],
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
