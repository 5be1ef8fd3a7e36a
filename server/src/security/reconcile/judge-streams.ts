import type { ReportedScope, ReportSummary, ReportTool } from '../formats/report/parsed-report.ts'
import type { Held, Stream, StreamFacts, StreamReport } from './finding-stream.store.ts'
import type { ReportedStream } from './pair-exactly.store.ts'
import { listDirectories, listMissing, type Missing, type PairCounts, type Paired } from './paired.store.ts'

/** What a report states of its completeness, or somebody after it. */
export type Completeness = { complete: boolean | null; confirmed: boolean }

/** What is recorded of a stream's newest report. */
export type StreamUpdate = {
  id: number
  tool: string
  tool_version: string | null
  facts: StreamFacts | null
  held: Held | null
  parts_since: Date | null
}

/** The findings that the report lacks and that stay as they are. */
export type Kept = 'all' | readonly string[]
export type JudgedStream = { id: number; kept: Kept; warnings: string[]; update: StreamUpdate }

type ReportToJudge = Completeness &
  Pick<StreamReport, 'upload_id' | 'commit_sha' | 'reported_at'> & { summary: ReportSummary }

/**
 * Decides for each stream which findings the report closes (decisions §7, "Complete"), and what is
 * recorded of it.
 */
export async function evaluateStreams(
  paired: Paired,
  streams: readonly ReportedStream[],
  report: ReportToJudge,
): Promise<JudgedStream[]> {
  const counts = new Map(paired.counts.map((ofStream) => [ofStream.stream_id, ofStream]))
  const judged: JudgedStream[] = []
  for (const stream of streams) judged.push(await judgeStream(paired, stream, counts.get(stream.id), report))
  return judged
}

const NO_PAIRS = { reported: 0, open: 0, absent: 0, missing: 0, missing_before: 0, returned: 0 }

async function judgeStream(
  paired: Paired,
  stream: ReportedStream,
  counts: PairCounts | undefined,
  report: ReportToJudge,
): Promise<JudgedStream> {
  const { reported, open, missing, missing_before, returned, absent } = counts ?? NO_PAIRS
  // It has nine tenths of the results of the one that was held before, and any.
  const isAsLarge = reported > 0 && reported >= (stream.held?.results ?? 0) * NEARLY_ALL
  const mayAgree = missing_before > 0 && returned === 0 && isAsLarge && stream.held?.may_be_repeated === true
  const directories = withAncestors(mayAgree ? await listDirectories(paired, stream.id) : [])
  const isPart = isPartOfScan(stream, report)
  const isOlder = report.reported_at < stream.reported_at
  const tool = stream.reported
  const facts = { stream, tool, report, reported, open, absent, missing, directories, mayAgree, isPart, isOlder }
  const verdict = decideAtOnce(facts) ?? decideByContent(facts, await listMissing(paired, stream))
  const { kept, held: findings, reasons, mayBeRepeated, isCut, hint } = verdict
  const { upload_id } = report
  const stated = { upload_id, findings, reasons, results: reported, may_be_repeated: mayBeRepeated, is_cut: isCut }
  const held = reasons.length === 0 ? null : stated
  const what =
    findings === missing
      ? `No findings of ${tool.name} were closed.`
      : `${findings} of ${missing} missing findings of ${tool.name} were not closed.`
  const isFirst = stream.reported_at.getTime() === 0
  // So is one that has all of the one before it, such as that of a job that is run again.
  const isWhole = report.complete === true || report.confirmed
  return {
    id: stream.id,
    kept,
    warnings: [...reasons.map((reason) => `${what} ${reason}`), ...hint],
    update: {
      id: stream.id,
      tool: stream.reported.name,
      tool_version: stream.reported.version,
      facts: withDigests(
        (held === null && !isPart) || isFirst ? toFacts(stream.reported) : stream.facts,
        tool,
        isPart ? stream.facts?.digests : null,
      ),
      held: isOlder ? stream.held : held,
      parts_since: isPart && !isWhole ? (stream.parts_since ?? (missing > 0 ? stream.seen_at : null)) : null,
    },
  }
}

/** These directories and those that they are in, without the top one. */
export function withAncestors(directories: readonly string[]): Set<string> {
  const all = new Set<string>()
  for (const directory of directories) {
    let end = directory.length
    while (!all.has(directory.slice(0, end))) {
      all.add(directory.slice(0, end))
      const parent = directory.lastIndexOf('/', end - 1)
      if (parent > 0) end = parent
    }
  }
  return all
}

const SCAN_MS = 60 * 60 * 1000

/**
 * Whether a report is about the commit of the stream's newest, within an hour: jobs share a scan.
 * The job that registers its upload first may be read last.
 */
export function isPartOfScan(stream: Stream, { upload_id, commit_sha, reported_at }: ReportToJudge): boolean {
  if (commit_sha === null || stream.commit_sha === null || stream.upload_id === upload_id) return false
  const isSame = commit_sha.startsWith(stream.commit_sha) || stream.commit_sha.startsWith(commit_sha)
  return isSame && Math.abs(reported_at.getTime() - stream.reported_at.getTime()) <= SCAN_MS
}

/**
 * These facts with the digests of the newest report. Reports of one commit may be about an image
 * for several platforms: then what all of them state counts.
 */
function withDigests(
  facts: StreamFacts | null,
  { digests }: ReportTool,
  before: readonly string[] | undefined | null,
): StreamFacts | null {
  if (facts === null) return null
  const { digests: _, ...others } = facts
  const all = before === null ? digests : digests && before?.filter((digest) => digests.includes(digest))
  return { ...others, ...(all && { digests: all }) }
}

/** Whether the report is about another image than the one before, under the same name. */
export function isOtherImage({ facts }: Pick<Stream, 'facts'>, update: StreamUpdate): boolean {
  return JSON.stringify(facts?.digests) !== JSON.stringify(update.facts?.digests)
}

export function toFacts({ failures = [], scope, components }: ReportTool): StreamFacts {
  return {
    failures: failures.slice(0, FAILURES_MAX),
    files: scope?.files ?? 0,
    rules: scope?.rules ?? 0,
    components: components?.sample() ?? [],
  }
}

/** A stream with fewer open findings may lose most of them at once. */
const GUARDED_FINDINGS_MIN = 20
/** Below it, not even a warning. */
const NOTED_FINDINGS_MIN = 5
const NEARLY_ALL = 0.9
const FAILURES_MAX = 50

/** What is known of one stream when its report is judged. */
export type StreamToJudge = {
  stream: Pick<Stream, 'facts'>
  tool: ReportTool
  report: Completeness & { summary: Pick<ReportSummary, 'skipped' | 'truncated'> }
  /** The number of the report's results in this stream, and of the stream's open findings. */
  reported: number
  open: number
  /** How many findings the report lacks, and how many of these are open. */
  absent: number
  missing: number
  /**
   * The directories in which the report has results, and those that they are in; only read if it
   * may agree. The top one is there only for results in it.
   */
  directories: ReadonlySet<string>
  /** Whether the report may agree with the one before, which was held. */
  mayAgree: boolean
  /** Whether the report and the one before are parts of one scan. */
  isPart: boolean
  /** Whether it is a part that was sent before the newest one: it closes nothing. */
  isOlder: boolean
}

type Verdict = {
  kept: Kept
  /** How many of the findings that `reasons` keep are open. */
  held: number
  reasons: string[]
  /** Whether the next report closes the kept findings if it lacks them, too. */
  mayBeRepeated: boolean
  isCut: boolean
  hint: string[]
}

const CLOSE_ALL: Verdict = { kept: [], held: 0, reasons: [], mayBeRepeated: true, isCut: false, hint: [] }
const KEEP_ALL: Verdict = { ...CLOSE_ALL, kept: 'all', mayBeRepeated: false }

/** More findings that a report lacks are not compared with it one by one. */
const COMPARED_MAX = 200_000

/**
 * Decides whether a report closes all that it lacks, or nothing, as it or somebody states. Null if
 * that depends on the findings.
 */
export function decideAtOnce(judged: StreamToJudge): Verdict | null {
  const { tool, report, absent, missing, isOlder, isPart } = judged
  const stop = (reason: string, isCut = false): Verdict => ({ ...KEEP_ALL, held: missing, reasons: [reason], isCut })
  if (!isOlder) {
    const cut = whyCut(report.summary, tool)
    if (cut !== null) return stop(cut, true)
    if (report.confirmed) return CLOSE_ALL
    if (report.complete === false) return stop('The sender states that the report is not complete.')
    const failure = whyFailed(judged)
    if (failure !== null) return stop(failure)
    const isStated = report.complete === true
    if (absent === 0 || (isStated && !tool.unrunRules?.length)) return CLOSE_ALL
    if (absent > COMPARED_MAX) return stop(`The report lacks ${absent} findings, too many to be compared with it.`)
    if (!isPart || isStated) return null
  }
  // Parts of a scan close nothing of each other.
  const text = `${tool.name}: the report adds to the one of the same commit before it, and closed nothing. Give jobs that scan different things a category each.`
  return { ...KEEP_ALL, hint: missing > 0 ? [text] : [] }
}

function whyCut({ truncated, skipped }: Pick<ReportSummary, 'skipped' | 'truncated'>, tool: ReportTool): string | null {
  if (truncated)
    return 'The report contains more findings than the limit, and findings beyond the limit may still exist.'
  if (skipped > 0) return 'Some results of the report were skipped, and the findings they describe may still exist.'
  return tool.incomplete ?? null
}

/** What the last complete report stated too, or else the first, is normal for the tool. */
function whyFailed({ stream, tool }: StreamToJudge): string | null {
  const normal = new Set(stream.facts?.failures)
  const failures = (tool.failures ?? []).filter((failure) => !normal.has(failure))
  if (failures.length === 0) return null
  const shown = failures.slice(0, FAILURES_SHOWN_MAX).join(', and ')
  return `The report states that the tool did not finish successfully: ${shown}.`
}

const FAILURES_SHOWN_MAX = 3

/**
 * Decides which of the findings that a complete report lacks stay: those that the rules name, and
 * what another part of the scan before it had, because the other parts of this one follow.
 */
export function decideByContent(judged: StreamToJudge, lacking: readonly Missing[]): Verdict {
  const { tool, report } = judged
  const unrun = new Set(tool.unrunRules)
  // The sender's word stands against what the report only looks like.
  const isStated = report.complete === true
  const ofParts = isStated ? [] : lacking.filter(({ was_in_part }) => was_in_part)
  const missing = ofParts.length === 0 ? lacking : lacking.filter(({ was_in_part }) => !was_in_part)
  const kept = new Set(ofParts.map(({ finding_id }) => finding_id))
  const reasons: string[] = []
  const keep = (findings: readonly Missing[], reason: string) => {
    const held = findings.filter(({ finding_id }) => !kept.has(finding_id))
    if (held.length === 0) return
    for (const { finding_id } of held) kept.add(finding_id)
    reasons.push(reason)
  }
  keep(
    missing.filter(({ rule_id }) => rule_id !== null && unrun.has(rule_id)),
    UNRUN,
  )
  const toJudge = isStated ? [] : missing.filter((finding) => !isAgreed(judged, finding))
  for (const [findings, reason] of listDoubts(judged, toJudge)) keep(findings, reason)
  const unexplained = toJudge.filter((finding) => finding.was_open && !isExplained(tool, finding))
  const rest = unexplained.filter(({ finding_id }) => !kept.has(finding_id))
  const guarded = judged.open - countOpen(lacking) + unexplained.length
  const isMost = rest.length * 2 > guarded
  const text = `${rest.length} of ${guarded} open findings are missing from the report.`
  if (isMost && guarded >= GUARDED_FINDINGS_MIN) keep(toJudge, text)
  const others = countOpen(ofParts)
  const isNoted = isMost && reasons.length === 0 && guarded >= NOTED_FINDINGS_MIN
  return {
    ...CLOSE_ALL,
    kept: [...kept],
    held: countOpen(missing.filter(({ finding_id }) => kept.has(finding_id))),
    reasons,
    hint: [
      ...(isNoted ? [`${tool.name}: ${text} They were closed.`] : []),
      ...(others > 0 ? [`${tool.name}: ${others} ${OF_PARTS}`] : []),
    ],
  }
}

function countOpen(findings: readonly Missing[]): number {
  return findings.filter(({ was_open }) => was_open).length
}

const OF_PARTS =
  'findings of other reports of the commit before stay open until the reports of a whole commit lack them. Give jobs that scan different things a category each.'
const UNRUN = 'The report states that the tool could not run their rules.'

/** Findings that may still be there, by what the report lists or by what it is about. */
function* listDoubts(
  { stream, tool, reported }: StreamToJudge,
  missing: readonly Missing[],
): Generator<[readonly Missing[], string]> {
  const { components, scope, subject } = tool
  if (components !== undefined && reported === 0)
    yield [
      missing.filter((finding) => !isExplained(tool, finding)),
      'The list of vulnerabilities is empty, and their components are still there.',
    ]
  const isNameless = components !== undefined && subject === undefined && tool.isUnnamed === true
  if (isNameless && (stream.facts === null || !components.hasHalf(stream.facts.components)))
    yield [
      missing,
      'The document names neither a tool nor its subject, and has under half of the components of the one before.',
    ]
  if (stream.facts !== null) yield* listUnlisted(stream.facts, scope, missing)
}

/**
 * A report that lists under nine tenths of the files or rules as before did not look at the others.
 */
function* listUnlisted(
  facts: StreamFacts,
  scope: ReportedScope | undefined,
  missing: readonly Missing[],
): Generator<[readonly Missing[], string]> {
  const [files, rules] = [scope?.files ?? 0, scope?.rules ?? 0]
  if (files < facts.files * NEARLY_ALL)
    yield [
      missing.filter(({ path }) => path === null || !scope?.hasFile(path)),
      `The report lists ${files} files without results; the last complete one listed ${facts.files}.`,
    ]
  if (rules < facts.rules * NEARLY_ALL)
    yield [
      missing.filter(({ rule_id }) => rule_id === null || !scope?.hasRule(rule_id)),
      `The report lists ${rules} rules without results; the last complete one listed ${facts.rules}.`,
    ]
}

/** The report before lacked it too, and this one has results in its directory. */
function isAgreed({ mayAgree, directories }: StreamToJudge, { was_missing, path }: Missing): boolean {
  if (!mayAgree || !was_missing) return false
  return directories.has(path?.slice(0, Math.max(0, path.lastIndexOf('/'))) ?? '')
}

/** The tool states that it is gone, or its component is gone or has another version. */
function isExplained(
  { components, gone }: ReportTool,
  { fingerprint, purl, package_name, package_version }: Missing,
): boolean {
  if (gone?.has(fingerprint)) return true
  return components !== undefined && !components.has({ purl, name: package_name, version: package_version })
}
