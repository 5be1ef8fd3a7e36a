import type { ReportSummary, ReportTool } from '../formats/report/parsed-report.ts'
import type { Stream } from './finding-stream.store.ts'
import type { PairCounts } from './paired.store.ts'

const TRUNCATED = 'The report contains more findings than the limit, and findings beyond the limit may still exist.'
const SKIPPED = 'Some results of the report were skipped, and the findings they describe may still exist.'

/** What the report itself states about the tool of a stream. */
export type StreamUpdate = { id: number; tool_version: string | null; rules_named: number | null }

type JudgedStream = { id: number; closing: Closing; warning: string | null; update: StreamUpdate }

/**
 * Decides for each stream which findings the report may close, and what is recorded of its tool.
 */
export function evaluateStreams(
  streams: readonly Stream[],
  counts: readonly PairCounts[],
  report: ReportSummary,
): JudgedStream[] {
  const countsByStream = new Map(counts.map((ofStream) => [ofStream.stream_id, ofStream]))
  return streams.map((stream) => judgeStream(stream, countsByStream.get(stream.id), report))
}

function judgeStream(stream: Stream, counts: PairCounts | undefined, report: ReportSummary): JudgedStream {
  const tool = report.tools.find(({ name }) => name === stream.tool) as ReportTool
  const { open = 0, missing = 0, missing_before: missingBefore = 0 } = counts ?? {}
  const { closing, warning } = decideClosing({
    tool: stream.tool,
    rules: tool.rules ?? null,
    rulesBefore: stream.rules_named,
    incomplete: whyIncomplete(report, tool),
    open,
    missing,
    missingBefore,
  })
  const update = { id: stream.id, tool_version: tool.version, rules_named: rulesToCompare(stream, tool, closing) }
  return { id: stream.id, closing, warning, update }
}

function whyIncomplete(report: ReportSummary, tool: ReportTool): string | null {
  if (report.truncated) return TRUNCATED
  if (report.skipped > 0) return SKIPPED
  return tool.incomplete ?? null
}

/**
 * The number of rules that the next report is compared with. A report that may not close all
 * findings does not lower it, because the next report may be incomplete for the same reason.
 */
function rulesToCompare({ rules_named: before }: Stream, tool: ReportTool, closing: Closing): number | null {
  const rules = tool.rules ?? null
  const closesAll = closing === 'all' && tool.unscanned === undefined
  const isKept = !closesAll && before !== null && before >= (rules ?? 0)
  return isKept ? before : rules
}

/**
 * Which open findings that are missing from a report the report closes: all, only those that were
 * missing from the previous report too, or none.
 */
export type Closing = 'all' | 'missing_before' | 'none'

/** A stream with fewer open findings may lose all of them at once. */
const GUARDED_FINDINGS_MIN = 20

/** What is known of one tool's findings when its report is judged. */
export type ReportToJudge = {
  tool: string
  /** The number of rules that the report names, or null where that is unknown. */
  rules: number | null
  /** The number of rules that it is compared with: of the last report that closed all it could. */
  rulesBefore: number | null
  /** Why the report may lack findings that its tool found, or null if it has them all. */
  incomplete: string | null
  /**
   * Open findings of the stream; of these, not in the report; of these, not in the previous one.
   */
  open: number
  missing: number
  missingBefore: number
}

type Verdict = { closing: Closing; warning: string | null }

/**
 * Decides what a report closes. An incomplete report closes nothing. A report that would close more
 * than half of 20 or more findings and names fewer rules than before may be the result of a failed
 * scan: it closes only what was missing before, and the next report that agrees closes the rest.
 */
export function decideClosing(report: ReportToJudge): Verdict {
  const { tool, incomplete } = report
  if (incomplete !== null) return { closing: 'none', warning: `No findings of ${tool} were closed. ${incomplete}` }
  if (!looksFailed(report)) return { closing: 'all', warning: null }
  return { closing: 'missing_before', warning: failedWarning(report) }
}

/** Findings that were missing from the previous report too are not counted. */
function looksFailed({ open, missing, missingBefore, rules, rulesBefore }: ReportToJudge): boolean {
  const namesFewer = rules !== null && rulesBefore !== null && rules < rulesBefore
  const guarded = open - missingBefore
  return namesFewer && guarded >= GUARDED_FINDINGS_MIN && (missing - missingBefore) * 2 > guarded
}

function failedWarning({ tool, open, missing, missingBefore, rules, rulesBefore }: ReportToJudge): string {
  return (
    `${missing - missingBefore} of ${open - missingBefore} open findings of ${tool} are missing from this report, ` +
    `which names ${rules} rules. The previous report named ${rulesBefore}. These findings were not closed. ` +
    'The next report that does not contain them closes them.'
  )
}
