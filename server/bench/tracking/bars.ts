import { f1Of, type IdentityScore, precisionOf } from './identity-score.ts'
import type { IssueScore } from './issue-score.ts'
import type { PairGroup } from './judged-pairs.ts'

/** What the figures have to reach. */
const IDENTITY = { unchangedF1: 0.998, withEditsF1: 0.99, precision: 0.999 }
const ISSUES: Record<PairGroup, { precision: number; recall: number }> = {
  'code and secrets': { precision: 0.97, recall: 0.9 },
  'infrastructure as code': { precision: 0.97, recall: 0.8 },
  'one scanner': { precision: 0.97, recall: 0 },
}

type Figures = { all: Scores; byTool: Map<string, Scores>; issues: Map<PairGroup, IssueScore> }

/** One score per tracker. */
type Scores = { shiplock: IdentityScore; github: IdentityScore; defectDojo: IdentityScore }

/** One sentence for each figure that is below its bar. */
export function missedBars({ all, byTool, issues }: Figures): string[] {
  return [
    ...missedByIdentity(all.shiplock),
    ...[...byTool].flatMap(([tool, scores]) => missedByTool(tool, scores)),
    ...[...issues].flatMap(([group, score]) => missedByIssues(group, score)),
  ]
}

function missedByIdentity({ unchanged, withEdits }: IdentityScore): string[] {
  const { unchangedF1, withEditsF1, precision } = IDENTITY
  return [
    ...below('Identity F1, unchanged text', f1Of(unchanged), unchangedF1),
    ...below('Identity F1, with edits', f1Of(withEdits), withEditsF1),
    ...below('Identity precision, unchanged text', precisionOf(unchanged), precision),
    ...below('Identity precision, with edits', precisionOf(withEdits), precision),
  ]
}

function missedByTool(tool: string, { shiplock, github }: Scores): string[] {
  return [
    ...below(`${tool}: F1, unchanged text, beside GitHub`, f1Of(shiplock.unchanged), f1Of(github.unchanged)),
    ...below(`${tool}: F1, with edits, beside GitHub`, f1Of(shiplock.withEdits), f1Of(github.withEdits)),
  ]
}

function missedByIssues(group: PairGroup, { precision, recall, missing }: IssueScore): string[] {
  return [
    ...(missing > 0 ? [`Issues, ${group}: ${missing} pairs are not among the findings`] : []),
    ...below(`Issues, ${group}: precision`, precision, ISSUES[group].precision),
    ...below(`Issues, ${group}: recall`, recall, ISSUES[group].recall),
  ]
}

function below(name: string, value: number, bar: number): string[] {
  return value < bar ? [`${name}: ${value.toFixed(4)} is below ${bar.toFixed(4)}`] : []
}
