import type { Truth } from './true-pairs.ts'

export type Counts = { truePositives: number; falsePositives: number; falseNegatives: number }

/** How many of those that should be recognized were. */
export type Share = { kept: number; of: number }

export type IdentityScore = {
  /** Findings whose flagged text is unchanged. */
  unchanged: Counts
  /** These, and those edited in place and in moved blocks. */
  withEdits: Counts
  renamed: Share
  edited: Share
  moved: Share
  unsure: number
}

/** By result of a report: the id that a tracker gave its finding; null if there is none. */
export type Ids = readonly (string | null)[]

/** A finding that a tracker lost, or that it took for another one. */
export type Miss = {
  is: Truth['is']
  isRenamed: boolean
  /** Index in the earlier report. */
  old: number
  /** Index in the later report: where it is, and where the tracker sees it. */
  to: number | null
  seenAt: number | null
}

/** The reports of a step: by result, the tracker's ids, and the keys of the later results. */
export type TrackedStep = {
  before: Ids
  after: Ids
  /** Results with one key cannot be told apart: which of them is which finding is not scored. */
  keys: readonly string[]
}

/** Scores one step. Each id recognizes at most as many findings as have it in both reports. */
export function scoreStep(truths: readonly Truth[], step: TrackedStep): { score: IdentityScore; misses: Miss[] } {
  const score = noScore()
  const misses: Miss[] = []
  const recognized = recognize(truths, step.before, step.after)
  for (const [old, truth] of truths.entries()) {
    const found = recognized[old] ?? null
    const isTrue = truth.to !== null && found !== null && step.keys[found] === step.keys[truth.to]
    const seenAt = isTrue ? truth.to : found
    count(score, truth, seenAt)
    if (truth.is !== 'unsure' && truth.to !== seenAt) misses.push({ ...truth, old, seenAt })
  }
  return { score, misses }
}

/** Where the tracker sees each finding of the earlier report: truly if its id allows that. */
function recognize(truths: readonly Truth[], before: Ids, after: Ids): (number | null)[] {
  const free = Map.groupBy(after.keys(), (index) => after[index] ?? null)
  const seen = truths.map(({ to }, old): number | null => {
    const id = before[old] ?? null
    if (id === null || to === null || after[to] !== id) return null
    free.get(id)?.splice(free.get(id)?.indexOf(to) ?? 0, 1)
    return to
  })
  return seen.map((to, old) => to ?? (before[old] == null ? null : (free.get(before[old])?.shift() ?? null)))
}

function count(score: IdentityScore, { is, to, isRenamed }: Truth, seenAt: number | null): void {
  if (is === 'unsure') {
    score.unsure++
    return
  }
  const isTrue = to !== null && to === seenAt
  for (const counts of is === 'kept' || is === 'gone' ? [score.unchanged, score.withEdits] : [score.withEdits]) {
    if (isTrue) counts.truePositives++
    if (!isTrue && seenAt !== null) counts.falsePositives++
    if (!isTrue && to !== null) counts.falseNegatives++
  }
  if (to === null) return
  if (is === 'kept' && isRenamed) addTo(score.renamed, isTrue)
  if (is === 'edited') addTo(score.edited, isTrue)
  if (is === 'moved') addTo(score.moved, isTrue)
}

function addTo(share: Share, isKept: boolean): void {
  share.of++
  if (isKept) share.kept++
}

export function noScore(): IdentityScore {
  const none = (): Counts => ({ truePositives: 0, falsePositives: 0, falseNegatives: 0 })
  const share = (): Share => ({ kept: 0, of: 0 })
  return { unchanged: none(), withEdits: none(), renamed: share(), edited: share(), moved: share(), unsure: 0 }
}

export function addScores(scores: readonly IdentityScore[]): IdentityScore {
  const sum = noScore()
  for (const score of scores) {
    for (const measure of ['unchanged', 'withEdits'] as const) addCounts(sum[measure], score[measure])
    for (const part of ['renamed', 'edited', 'moved'] as const) {
      sum[part].kept += score[part].kept
      sum[part].of += score[part].of
    }
    sum.unsure += score.unsure
  }
  return sum
}

function addCounts(sum: Counts, { truePositives, falsePositives, falseNegatives }: Counts): void {
  sum.truePositives += truePositives
  sum.falsePositives += falsePositives
  sum.falseNegatives += falseNegatives
}

/** 1 if nothing was recognized. */
export function precisionOf({ truePositives, falsePositives }: Counts): number {
  return truePositives + falsePositives === 0 ? 1 : truePositives / (truePositives + falsePositives)
}

/** 1 if there was nothing to recognize. */
export function recallOf({ truePositives, falseNegatives }: Counts): number {
  return truePositives + falseNegatives === 0 ? 1 : truePositives / (truePositives + falseNegatives)
}

export function f1Of(counts: Counts): number {
  const [precision, recall] = [precisionOf(counts), recallOf(counts)]
  return precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall)
}
