import { buildAverageId } from '../../platform/db/average-id.ts'
import { hasPairs, type Paired, type Pairs } from './paired.store.ts'
import type { ReopenedPairs } from './reopened.store.ts'

/**
 * Gives new findings and those with a new fingerprint an ordinal that no stored finding with this
 * fingerprint has. An ordinal has no meaning: it only distinguishes findings with the same
 * fingerprint. It is above all stored ones, so that rows can be written in any order.
 */
export async function updateOrdinals(reopened: ReopenedPairs): Promise<Paired> {
  const { tx, scope, earlier } = reopened
  if (earlier.length > 0 && (hasPairs(reopened, 'fresh') || hasPairs(reopened, 'changed'))) {
    await tx`
      update paired
      set ordinal = numbered.ordinal
      from (
        select position, coalesce(highest.ordinal, -1)
            + row_number() over (partition by paired.stream_id, incoming.fingerprint order by position) as ordinal
        from paired
        join incoming using (position)
        left join lateral (
          select ordinal
          from findings
          where org_id = ${buildAverageId(tx, scope.org_id)}
            and stream_id = paired.stream_id
            and fingerprint = incoming.fingerprint
          order by ordinal desc
          limit 1
        ) highest on true
        where paired.ordinal is not null
      ) numbered
      where paired.position = numbered.position`
  }
  return reopened as Pairs as Paired
}
