import type { Shiplock } from '../setting.ts'
import { defectDojoIds, githubAlertIds } from './baselines.ts'
import { addScores, type IdentityScore, type Ids, type Miss, scoreStep } from './identity-score.ts'
import { placeKey } from './reported-result.ts'
import { UploadedRepository } from './shiplock-findings.ts'
import { type History, readHistory, type Scan, type ScanReport, type Selection } from './tracking-data.ts'
import { truePairs } from './true-pairs.ts'

export type Tracker = 'shiplock' | 'github' | 'defectDojo'
export const TRACKERS: Tracker[] = ['shiplock', 'github', 'defectDojo']

/** How each tracker recognized the findings of one scanner in one repository. */
export type ScanScore = {
  repository: string
  tool: string
  results: number
  /** Results without a finding of ours at their place. They count as not recognized. */
  unfound: number
  scores: Record<Tracker, IdentityScore>
  misses: LocatedMiss[]
}

/** A miss of Shiplock, with the step and both reports. */
export type LocatedMiss = Miss & { step: number; before: ScanReport; after: ScanReport }

type IdsByTracker = Record<Tracker, Ids>

/** Uploads the history of a repository commit by commit, and scores each scanner. */
export async function measureIdentity(
  shiplock: Shiplock,
  selection: Selection,
  repository: string,
): Promise<ScanScore[]> {
  const history = readHistory(selection, repository)
  const uploaded = await UploadedRepository.create(shiplock, 'identity', history)
  const ids = new Map<Scan, Map<number, Ids>>(history.scans.map((scan) => [scan, new Map()]))
  for (const n of history.commits.keys()) {
    for (const scan of history.scans) {
      const report = scan.reports.get(n)
      if (report === undefined) continue
      await uploaded.upload(scan.tool, report)
      ids.get(scan)?.set(n, await uploaded.ids(scan.tool, report))
    }
  }
  return history.scans.map((scan) => scoreScan(history, scan, ids.get(scan) ?? new Map()))
}

function scoreScan({ repository, steps }: History, scan: Scan, ids: ReadonlyMap<number, Ids>): ScanScore {
  const byTracker = new Map<number, IdsByTracker>()
  for (const [n, report] of scan.reports) {
    byTracker.set(n, { shiplock: ids.get(n) ?? [], github: githubAlertIds(report), defectDojo: defectDojoIds(report) })
  }
  const scored = steps.flatMap(({ files }, step) => {
    const [before, after] = [scan.reports.get(step), scan.reports.get(step + 1)]
    if (before === undefined || after === undefined) return []
    const truths = truePairs(files, before.results, after.results)
    const keys = after.results.map(placeKey)
    const score = (tracker: Tracker) => {
      const ids = { before: byTracker.get(step)?.[tracker] ?? [], after: byTracker.get(step + 1)?.[tracker] ?? [] }
      return scoreStep(truths, { ...ids, keys })
    }
    const shiplock = score('shiplock')
    const misses = shiplock.misses.map((miss) => ({ ...miss, step, before, after }))
    return [{ shiplock: shiplock.score, github: score('github').score, defectDojo: score('defectDojo').score, misses }]
  })
  const all = [...ids.values()].flat()
  return {
    repository,
    tool: scan.tool,
    results: all.length,
    unfound: all.filter((id) => id === null).length,
    scores: addTrackers(scored),
    misses: scored.flatMap(({ misses }) => misses),
  }
}

/** The sum of several scores, for each tracker. */
export function addTrackers(scores: readonly Record<Tracker, IdentityScore>[]): Record<Tracker, IdentityScore> {
  const sum = (tracker: Tracker) => addScores(scores.map((score) => score[tracker]))
  return { shiplock: sum('shiplock'), github: sum('github'), defectDojo: sum('defectDojo') }
}
