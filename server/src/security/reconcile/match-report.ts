import type { Tx } from '../../platform/db/sql.ts'
import type { SameFindings } from '../writing/finding-writing.store.ts'
import type { MergeScope } from '../writing/grouping.store.ts'
import {
  type CandidateMatch,
  type CertainPair,
  type ComparedStreams,
  listCertainPairs,
  listReportedCandidates,
  listStoredCandidates,
  listStreamFindings,
  type MatchedPairs,
  type Parts,
  type ReportedCandidate,
  type StoredCandidate,
  type StreamFile,
  type StreamFinding,
  updateMatchedPairs,
} from './candidates.store.ts'
import { updateRenamedRules } from './finding-merge.store.ts'
import type { Incoming } from './incoming.store.ts'
import { matchFindings } from './matching/match-findings.ts'
import { deleteUnscannedPairs, type ExactPairs, insertExactPairs, type ReportedStream } from './pair-exactly.store.ts'
import { hasPairs, type Paired } from './paired.store.ts'
import {
  type ClosedFinding,
  listReturning,
  type Reopening,
  type ReturnedFinding,
  type ReturningFinding,
  updateOrdinals,
  updateReopenedPairs,
} from './reopened.store.ts'
import type { ReportMembers } from './report-members.ts'

/** The findings of two streams that are the same problems, by the rules for a report. */
export async function listSameFindings(
  tx: Tx,
  orgId: string,
  { from, into }: { from: number; into: number },
): Promise<SameFindings> {
  const [stored, reported] = [await listStreamFindings(tx, orgId, from), await listStreamFindings(tx, orgId, into)]
  const matches = matchFindings(stored, reported, [])
  return {
    from: matches.map((match) => (stored[match.stored] as StreamFinding).finding_id),
    into: matches.map((match) => (reported[match.reported] as StreamFinding).finding_id),
  }
}

/** Pairs the findings of a report about this commit with the stored findings of its streams. */
export async function matchReport(
  incoming: Incoming,
  scope: MergeScope,
  streams: readonly ReportedStream[],
  commit: string | null,
): Promise<Paired> {
  await updateRenamedRules(incoming, scope.org_id, streams)
  const exact = await insertExactPairs(incoming, scope, streams)
  const inParts = streams.filter(({ isInParts }) => isInParts).map(({ id }) => id)
  const matched = await matchCandidates(await deleteUnscannedPairs(exact, streams), { inParts, commit })
  const isAnyNew = matched.earlier.length > 0 && hasPairs(matched, 'fresh')
  const returning = isAnyNew ? await listReturning(matched) : []
  const reopened = await updateReopenedPairs(matched, matchReopened(returning))
  return updateOrdinals(reopened)
}

/**
 * Applies the matching rules to the findings whose pair is not certain. Streams where only one side
 * has such findings are skipped.
 */
async function matchCandidates(exact: ExactPairs, parts: Parts): Promise<MatchedPairs> {
  const streamIds = exact.counts.filter(({ fresh, absent }) => fresh > 0 && absent > 0).map((of) => of.stream_id)
  const byStream = streamIds.length > 0 ? await readCandidates(exact, { streamIds, ...parts }) : []
  return updateMatchedPairs(
    exact,
    byStream.flatMap((candidates) => matchStream(candidates, exact.members)),
  )
}

/** The findings of one stream to match. `anchors` are certain pairs in the same files. */
type Candidates = {
  stored: StoredCandidate[]
  reported: ReportedCandidate[]
  anchors: [number, number][]
  isInParts: boolean
}

async function readCandidates(exact: ExactPairs, compared: ComparedStreams): Promise<Candidates[]> {
  const { streamIds, inParts } = compared
  const byStream = new Map<number, Candidates>(
    streamIds.map((id) => [id, { stored: [], reported: [], anchors: [], isInParts: inParts.includes(id) }]),
  )
  const of = ({ stream_id: id }: { stream_id: number }) => byStream.get(id) as Candidates
  for (const finding of await listStoredCandidates(exact, compared)) of(finding).stored.push(finding)
  for (const finding of await listReportedCandidates(exact, compared)) of(finding).reported.push(finding)
  const both = [...byStream.values()].filter(({ stored, reported }) => stored.length > 0 && reported.length > 0)
  for (const pair of await listCertainPairs(exact, collectFiles(both))) {
    const { stored, reported, anchors } = of(pair)
    anchors.push([stored.push(toStored(pair)) - 1, reported.push(pair) - 1])
  }
  return both
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

/** A rule that had another id before is the same rule, unless the report has findings of both. */
function matchStream(candidates: Candidates, members: ReportMembers): CandidateMatch[] {
  const { stored: before, reported, anchors, isInParts } = candidates
  const renamed = new Map(
    reported.flatMap(({ earlier_rules, rule_id }) => (earlier_rules ?? []).map((id) => [id, rule_id])),
  )
  const ids = renamed.size > 0 ? members.collectRules(before[0]?.stream_id ?? 0) : new Set()
  const stored = before.map((finding) => {
    const id = ids.has(finding.rule_id) ? undefined : renamed.get(finding.rule_id ?? '')
    return id === undefined ? finding : { ...finding, rule_id: id }
  })
  return matchFindings(stored, reported, anchors, isInParts).map(({ stored: from, reported: to, method }) => {
    const { finding_id } = stored[from] as StoredCandidate
    const { position } = reported[to] as ReportedCandidate
    return { position, finding_id, method }
  })
}

/**
 * Which closed findings a report reopens: those with the fingerprint of a new finding, at the same
 * line if possible, else in the same file in the order of lines. In another file only if there is
 * one on each side.
 */
function matchReopened(findings: readonly (ReturnedFinding | ClosedFinding)[]): Reopening[] {
  const returned = findings.filter((finding) => finding.position !== null).sort(byLine)
  const closed = findings.filter((finding) => finding.position === null).sort(byLine)
  const atLine = pairBy(line, returned, closed)
  const inFile = pairBy(file, without(returned, atLine), without(closed, atLine))
  const inFiles = [...atLine, ...inFile]
  const elsewhere = pairBy(identity, without(returned, inFiles), without(closed, inFiles), 1)
  return [...inFiles, ...elsewhere]
}

type Key = (finding: ReturningFinding) => string
const identity: Key = ({ stream_id, fingerprint, secret }) => `${stream_id} ${fingerprint} ${secret ?? ''}`
const file: Key = (finding) => `${identity(finding)} ${finding.path ?? ''}`
const line: Key = (finding) => `${identity(finding)} ${finding.start_line ?? ''} ${finding.path ?? ''}`

function byLine(a: ReturningFinding, b: ReturningFinding): number {
  return (a.start_line ?? 0) - (b.start_line ?? 0)
}

/** Pairs findings with equal keys in their order, unless a side has more than `max` of them. */
function pairBy(
  key: Key,
  returned: readonly ReturnedFinding[],
  closed: readonly ClosedFinding[],
  max = Number.POSITIVE_INFINITY,
): Reopening[] {
  const waiting = Map.groupBy(closed, key)
  return [...Map.groupBy(returned, key)].flatMap(([value, group]) => {
    const others = waiting.get(value) ?? []
    if (group.length > max || others.length > max) return []
    return others.slice(0, group.length).map((other, rank) => [group[rank] as ReturnedFinding, other] as const)
  })
}

function without<Finding extends ReturningFinding>(findings: readonly Finding[], pairs: readonly Reopening[]) {
  const paired = new Set<ReturningFinding>(pairs.flat())
  return findings.filter((finding) => !paired.has(finding))
}
