import type { Regrouped } from './regroup-buckets.ts'

/** What a regroup has done. Only batches that wrote something are counted as `batches`. */
export type RegroupCounts = {
  batches: number
  findings: number
  moved: number
  restated: number
  merged: number
  split: number
}

export const NO_COUNTS: RegroupCounts = { batches: 0, findings: 0, moved: 0, restated: 0, merged: 0, split: 0 }

export function mergeCounts<Counts extends RegroupCounts>(
  counts: Counts,
  { findings, moved, restated, issues, changes }: Regrouped,
): Counts {
  const merged = changes.filter(({ event }) => event === 'merged').length
  return {
    ...counts,
    batches: counts.batches + (issues > 0 ? 1 : 0),
    findings: counts.findings + findings,
    moved: counts.moved + moved,
    restated: counts.restated + restated,
    merged: counts.merged + merged,
    split: counts.split + changes.length - merged,
  }
}
