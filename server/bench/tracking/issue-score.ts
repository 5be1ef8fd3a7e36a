import { type Counts, precisionOf, recallOf } from './identity-score.ts'
import { groupOf, type JudgedPair, type JudgedResult, type PairGroup } from './judged-pairs.ts'
import type { StoredFinding } from './shiplock-findings.ts'

/** What Shiplock says about a judged pair; null if one of the two is not among the findings. */
export type Answer = { pair: JudgedPair; isJoined: boolean | null }

export type IssueScore = Counts & { pairs: number; missing: number; precision: number; recall: number }

/** Whether the findings of a pair belong to one issue. `findings` are by scanner. */
export function answer(pair: JudgedPair, findings: ReadonlyMap<string, readonly StoredFinding[]>): Answer {
  const [a, b] = [pair.a, pair.b].map((judged) => issuesOf(judged, findings.get(judged.tool) ?? []))
  if (!a?.size || !b?.size) return { pair, isJoined: null }
  return { pair, isJoined: !a.isDisjointFrom(b) }
}

/** Several if the rule was violated more than once on these lines. */
function issuesOf({ rule, path, start_line, end_line }: JudgedResult, findings: readonly StoredFinding[]): Set<string> {
  const matching = findings.filter(
    (finding) =>
      finding.rule === rule &&
      finding.path === path &&
      finding.startLine === start_line &&
      (finding.endLine === end_line || end_line == null),
  )
  return new Set(matching.map(({ issueId }) => issueId))
}

/** The pairs that are missing count for neither precision nor recall. */
export function scoreIssues(answers: readonly Answer[]): Map<PairGroup, IssueScore> {
  const groups = Map.groupBy(answers, ({ pair }) => groupOf(pair))
  return new Map([...groups].map(([group, members]) => [group, scoreGroup(members)]))
}

function scoreGroup(answers: readonly Answer[]): IssueScore {
  const number = (same: boolean, isJoined: boolean) =>
    answers.filter((given) => given.pair.same === same && given.isJoined === isJoined).length
  const counts = {
    truePositives: number(true, true),
    falsePositives: number(false, true),
    falseNegatives: number(true, false),
  }
  const missing = answers.filter(({ isJoined }) => isJoined === null).length
  return { ...counts, pairs: answers.length, missing, precision: precisionOf(counts), recall: recallOf(counts) }
}

export function isWrong({ pair, isJoined }: Answer): boolean {
  return isJoined !== null && isJoined !== pair.same
}
