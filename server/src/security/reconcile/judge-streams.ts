import type { ReportSummary, ReportTool } from '../formats/report/parsed-report.ts'
import { type Closing, judgeClosing } from './closing.ts'
import type { Stream } from './finding-stream.store.ts'
import type { PairCounts } from './paired.store.ts'
import type { StreamUpdate } from './record-report.store.ts'

const TRUNCATED = 'The report contains more findings than the limit, and findings beyond the limit may still exist.'
const SKIPPED = 'Some results of the report were skipped, and the findings they describe may still exist.'

export type JudgedStream = { id: number; closing: Closing; warning: string | null; update: StreamUpdate }

/**
 * Decides for each stream which findings the report may close, and what is recorded of its tool.
 */
export function judgeStreams(
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
  const { closing, warning } = judgeClosing({
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
  const isKept = closing !== 'all' && before !== null && before >= (rules ?? 0)
  return isKept ? before : rules
}
