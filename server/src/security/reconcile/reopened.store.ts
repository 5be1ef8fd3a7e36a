import { buildAverageId, buildAverageIds } from '../../platform/db/spread.ts'
import type { MatchedPairs } from './candidates.store.ts'
import type { After } from './incoming.store.ts'
import { countPairs, hasPairs, type Paired, type Pairs } from './paired.store.ts'

/** The table `paired` with the fixed findings that the report reopens. */
type ReopenedPairs = After<'reopen'> & Pairs

/** A finding of the report without a pair, or a stored one that was closed, by its fingerprint. */
export type ReturningFinding = {
  stream_id: number
  fingerprint: string
  path: string | null
  start_line: number | null
  /** The keyed hash of a secret; null for others. */
  secret: string | null
}
export type ReturnedFinding = ReturningFinding & { position: number; finding_id: null }
export type ClosedFinding = ReturningFinding & { position: null; finding_id: string }

/**
 * Reads the new findings of the report that have the fingerprint of a closed finding, and these
 * closed ones: fixed, or dismissed and missing from the previous report.
 */
export async function listReturning(matched: MatchedPairs): Promise<(ReturnedFinding | ClosedFinding)[]> {
  const { tx, scope, earlier } = matched
  const streamIds = earlier.map(({ id }) => id)
  const secret = tx`case when kind = 'secret' then context end`
  const isClosed = tx`(reported_state = 'fixed' or (reported_state = 'dismissed' and last_seen_at is not null))`
  return tx<(ReturnedFinding | ClosedFinding)[]>`
    with fresh as materialized (
      select position, paired.stream_id, fingerprint, path, start_line, ${secret} as secret
      from paired
      join incoming using (position)
      where paired.finding_id is null
        and paired.stream_id = any(${streamIds})
        -- Once for all rows: most streams have closed findings, but a new one has none to look up.
        and exists (
          select from findings
          where org_id = ${buildAverageId(tx, scope.org_id)}
            and stream_id = any(${buildAverageIds(tx, streamIds)})
            and ${isClosed}
        )
    ),
    closed as materialized (
      select closed.*
      from (select distinct stream_id, fingerprint from fresh) returned
      cross join lateral (
        select id, stream_id, fingerprint, path, start_line, ${secret} as secret
        from findings
        where org_id = ${buildAverageId(tx, scope.org_id)}
          and stream_id = returned.stream_id
          and fingerprint = returned.fingerprint
          and ${isClosed}
        offset 0
      ) closed
      where closed.id not in (select finding_id from paired where position is not null and finding_id is not null)
    ),
    both_sides as (
      select stream_id, fingerprint, path, start_line, secret, position, null::uuid as finding_id
      from fresh
      union all
      select stream_id, fingerprint, path, start_line, secret, null, id
      from closed
    )
    select stream_id, encode(fingerprint, 'hex') as fingerprint, path, start_line, encode(secret, 'hex') as secret,
      position, finding_id
    from (
      select *, count(finding_id) over (partition by stream_id, fingerprint) as closed_count
      from both_sides
    ) counted
    where closed_count > 0
    order by position, finding_id`
}

/** Pairs of a returned finding and the closed one that it reopens. */
export type Reopening = readonly [returned: ReturnedFinding, closed: ClosedFinding]

export async function updateReopenedPairs(
  matched: MatchedPairs,
  reopenings: readonly Reopening[],
): Promise<ReopenedPairs> {
  if (reopenings.length === 0) return matched as Pairs as ReopenedPairs
  const { tx } = matched
  await tx`
    with reopened as (
      select *
      from unnest(
        ${reopenings.map(([{ position }]) => position)}::integer[],
        ${reopenings.map(([, { finding_id }]) => finding_id)}::uuid[]
      ) as reopened (position, finding_id)
    ),
    absent as (
      delete from paired
      using reopened
      where paired.finding_id = reopened.finding_id
    )
    update paired
    set finding_id = reopened.finding_id, ordinal = null, was_open = false, was_missing = true, is_changed = true,
      identity_method = 'same_fingerprint'
    from reopened
    where paired.position = reopened.position`
  return { ...matched, counts: await countPairs(tx) } as Pairs as ReopenedPairs
}

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
