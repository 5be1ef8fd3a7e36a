import type { Paired, Pairs } from './paired.store.ts'
import type { ReopenedPairs } from './reopened.store.ts'

/**
 * Gives new findings and those with a new fingerprint an ordinal that no stored finding with this
 * fingerprint has. An ordinal has no meaning: it only distinguishes findings with the same
 * fingerprint. It is above all stored ones, so that rows can be written in any order.
 */
export async function numberEquals(reopened: ReopenedPairs): Promise<Paired> {
  const { tx, scope, earlier, counts } = reopened
  const ids = earlier.map(({ id }) => id)
  const isToNumber = counts.some((of) => ids.includes(of.stream_id) && (of.fresh > 0 || of.changed > 0))
  if (isToNumber) {
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
          where org_id = ${scope.org_id}
            and stream_id = paired.stream_id
            and fingerprint = incoming.fingerprint
          order by ordinal desc
          limit 1
        ) highest on true
        where paired.ordinal is not null
          and paired.stream_id = any(${ids})
      ) numbered
      where paired.position = numbered.position`
  }
  return reopened as Pairs as Paired
}
