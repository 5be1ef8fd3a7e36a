import type { MergeScope } from '../issues/writing/grouping.store.ts'
import type { Incoming } from './incoming.store.ts'
import { deleteUnscannedPairs, type ReportedStream } from './keep-unscanned.store.ts'
import { matchCandidates } from './match-candidates.ts'
import { matchReopened } from './match-reopened.ts'
import { updateOrdinals } from './number-equals.store.ts'
import { insertExactPairs } from './pair-exactly.store.ts'
import { hasPairs, type Paired } from './paired.store.ts'
import { listReturning, updateReopenedPairs } from './reopened.store.ts'

/** Pairs the findings of the report with the stored findings of its streams. */
export async function matchReport(
  incoming: Incoming,
  scope: MergeScope,
  streams: readonly ReportedStream[],
): Promise<Paired> {
  const exact = await insertExactPairs(incoming, scope, streams)
  const matched = await matchCandidates(await deleteUnscannedPairs(exact, streams))
  const isAnyNew = matched.earlier.length > 0 && hasPairs(matched, 'fresh')
  const returning = isAnyNew ? await listReturning(matched) : []
  const reopened = await updateReopenedPairs(matched, matchReopened(returning))
  return updateOrdinals(reopened)
}
