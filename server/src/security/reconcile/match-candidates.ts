import {
  type CandidateMatch,
  type CertainPair,
  listCertainPairs,
  listReportedCandidates,
  listStoredCandidates,
  type MatchedPairs,
  type ReportedCandidate,
  type StoredCandidate,
  type StreamFile,
  updateMatchedPairs,
} from './candidates.store.ts'
import { matchFindings } from './matching/match-findings.ts'
import type { ExactPairs } from './pair-exactly.store.ts'

/**
 * Applies the matching rules to the findings whose pair is not certain. Streams where only one side
 * has such findings are skipped.
 */
export async function matchCandidates(exact: ExactPairs): Promise<MatchedPairs> {
  const streamIds = exact.counts.filter(({ fresh, absent }) => fresh > 0 && absent > 0).map((of) => of.stream_id)
  const byStream = streamIds.length > 0 ? await readCandidates(exact, streamIds) : []
  return updateMatchedPairs(exact, byStream.flatMap(matchStream))
}

/** The findings of one stream to match. `anchors` are certain pairs in the same files. */
type Candidates = { stored: StoredCandidate[]; reported: ReportedCandidate[]; anchors: [number, number][] }

async function readCandidates(exact: ExactPairs, streamIds: number[]): Promise<Candidates[]> {
  const byStream = new Map<number, Candidates>(streamIds.map((id) => [id, { stored: [], reported: [], anchors: [] }]))
  const of = ({ stream_id: id }: { stream_id: number }) => byStream.get(id) as Candidates
  for (const finding of await listStoredCandidates(exact, streamIds)) of(finding).stored.push(finding)
  for (const finding of await listReportedCandidates(exact, streamIds)) of(finding).reported.push(finding)
  const compared = [...byStream.values()].filter(({ stored, reported }) => stored.length > 0 && reported.length > 0)
  for (const pair of await listCertainPairs(exact, collectFiles(compared))) {
    const { stored, reported, anchors } = of(pair)
    anchors.push([stored.push(toStored(pair)) - 1, reported.push(pair) - 1])
  }
  return compared
}

/** The stored finding of a certain pair, at its own place. */
function toStored(pair: CertainPair): StoredCandidate {
  const { from_start_line, from_end_line, from_start_column, from_end_column } = pair
  return {
    ...pair,
    start_line: from_start_line,
    end_line: from_end_line,
    start_column: from_start_column,
    end_column: from_end_column,
  }
}

/** The files of these findings. */
function collectFiles(compared: readonly Candidates[]): StreamFile[] {
  return compared.flatMap(({ stored, reported }) => {
    const findings = [...stored, ...reported]
    const paths = new Set(findings.map(({ path }) => path ?? ''))
    return [...paths].map((path) => ({ stream_id: findings[0]?.stream_id as number, path }))
  })
}

function matchStream({ stored, reported, anchors }: Candidates): CandidateMatch[] {
  return matchFindings(stored, reported, anchors).map(({ stored: from, reported: to, method }) => {
    const { finding_id } = stored[from] as StoredCandidate
    const { position } = reported[to] as ReportedCandidate
    return { position, finding_id, method }
  })
}
