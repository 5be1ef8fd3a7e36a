import type { MergeScope } from '../issues/writing/grouping.store.ts'
import type { Stream } from './finding-stream.store.ts'
import type { Incoming } from './incoming.store.ts'
import { matchCandidates } from './match-candidates.ts'
import { matchReopened } from './match-reopened.ts'
import { numberEquals } from './number-equals.store.ts'
import { pairExactly } from './pair-exactly.store.ts'
import { hasPairs, type Paired } from './paired.store.ts'
import { readReturning, writeReopened } from './reopened.store.ts'

/** Pairs the findings of the report with the stored findings of its streams. */
export async function pairReport(incoming: Incoming, scope: MergeScope, streams: readonly Stream[]): Promise<Paired> {
  const exact = await pairExactly(incoming, scope, streams)
  const matched = await matchCandidates(exact)
  const isAnyNew = matched.earlier.length > 0 && hasPairs(matched, 'fresh')
  const returning = isAnyNew ? await readReturning(matched) : []
  const reopened = await writeReopened(matched, matchReopened(returning))
  return numberEquals(reopened)
}
