import type { Tx } from '../../platform/db/sql.ts'
import type { ReportSummary, ReportTool } from '../formats/report/parsed-report.ts'
import { lockRepository } from '../issues/writing/grouping.store.ts'
import { type NewIssues, refreshReported } from '../issues/writing/issue-refresh.store.ts'
import type { UploadOutcome, UploadToRead } from '../uploads/upload-state.store.ts'
import { judgeClosing, type Verdict } from './closing.ts'
import { insertNew, settleMissing, updateChanged } from './finding-merge.store.ts'
import { countPairs, type PairCounts, pairIncoming, pairRelocated, pairReworded } from './finding-pairing.store.ts'
import { type Stream, type StreamFacts, type StreamWord, updateStreams } from './finding-stream.store.ts'
import { type GroupedReport, groupReport } from './group-report.ts'
import type { ReportFacts } from './report-facts.ts'

const TRUNCATED = 'The report holds more findings than are kept, and those left out may still be there.'
const SKIPPED = 'What was skipped in the report may be about findings that are still there.'

export type Merged = Omit<UploadOutcome, 'openBySeverity'> & { warnings: string[] }

type JudgedStream = Stream & Verdict & { word: ReportTool }

/**
 * Brings the streams' findings in line with the report that was copied in. Streams that a newer report spoke of already
 * are not among `streams`: their findings count as unchanged.
 */
export async function mergeReport(
  tx: Tx,
  orgId: string,
  upload: UploadToRead,
  report: ReportSummary,
  streams: Stream[],
  facts: StreamFacts,
  findings: ReportFacts,
  at: Date,
): Promise<Merged> {
  const scope = { org_id: orgId, repository_no: upload.repository_no, at }
  await lockRepository(tx, orgId, upload.repository_no)
  const counts = await pairReport(tx, orgId, streams)
  const judged = judgeStreams(streams, counts, report)
  // Most reports say nothing new, and what has nothing to do would still look at every finding.
  const has = (count: 'fresh' | 'changed' | 'absent') => counts.some((ofStream) => ofStream[count] > 0)
  const grouped = has('fresh') || has('changed') ? await groupReport(tx, scope, findings) : NOTHING_GROUPED
  const updated = has('changed') ? await updateChanged(tx, scope) : 0
  const created = has('fresh') ? await insertNew(tx, scope) : 0
  const resolved = has('absent') ? await settleMissing(tx, scope, judged) : 0
  const { git_ref, commit_sha, reported_at } = upload
  await updateStreams(tx, orgId, judged.map(streamWord), { ...facts, git_ref, commit_sha, reported_at }, at)
  const turned = streams.filter(({ tracked }) => tracked !== upload.tracked).map(({ id }) => id)
  const isTouched = grouped.touched.length > 0 || has('absent') || turned.length > 0
  const shown = isTouched
    ? await refreshReported(tx, orgId, { issueIds: grouped.touched, streamIds: turned }, at)
    : NONE
  return {
    created,
    updated,
    unchanged: report.findings - created - updated,
    resolved,
    newIssues: grouped.opened.open + shown.open,
    newCritical: grouped.opened.critical + shown.critical,
    newHigh: grouped.opened.high + shown.high,
    warnings: judged.flatMap(({ warning }) => warning ?? []),
  }
}

const NONE: NewIssues = { open: 0, critical: 0, high: 0 }
const NOTHING_GROUPED: GroupedReport = { touched: [], opened: NONE }

/** Counts what is new, has changed and is absent; where only the place of a finding has changed, or only its words, it is the same one. */
async function pairReport(tx: Tx, orgId: string, streams: Stream[]): Promise<PairCounts[]> {
  await pairIncoming(tx, orgId, streams)
  let counts = await countPairs(tx)
  for (const pairLeft of [pairRelocated, pairReworded]) {
    if (!counts.some(({ fresh, absent }) => fresh > 0 && absent > 0)) return counts
    await pairLeft(tx, orgId)
    counts = await countPairs(tx)
  }
  return counts
}

function judgeStreams(streams: Stream[], counts: PairCounts[], report: ReportSummary): JudgedStream[] {
  const countsByStream = new Map(counts.map((ofStream) => [ofStream.stream_id, ofStream]))
  return streams.map((stream) => {
    const word = report.tools.find(({ name }) => name === stream.tool) as ReportTool
    const { open = 0, missing = 0, missing_before: missingBefore = 0 } = countsByStream.get(stream.id) ?? {}
    const verdict = judgeClosing({
      tool: stream.tool,
      rules: word.rules ?? null,
      rulesBefore: stream.rules_named,
      incomplete: whyIncomplete(report, word),
      open,
      missing,
      missingBefore,
    })
    return { ...stream, ...verdict, word }
  })
}

function whyIncomplete(report: ReportSummary, word: ReportTool): string | null {
  if (report.truncated) return TRUNCATED
  if (report.skipped > 0) return SKIPPED
  return word.incomplete ?? null
}

/** A report that closes nothing does not lower what the next one is compared with: it may be the first of several gone wrong. */
function streamWord({ id, closing, rules_named: before, word }: JudgedStream): StreamWord {
  const rules = word.rules ?? null
  const isKept = closing !== 'all' && before !== null && before >= (rules ?? 0)
  return { id, version: word.version, rules_named: isKept ? before : rules }
}
