import type { Tx } from '../../platform/db/sql.ts'
import type { MergeScope } from '../issues/writing/grouping.store.ts'
import type { Stream } from './finding-stream.store.ts'
import type { After, Incoming } from './incoming.store.ts'
import { countPairs, type Pairs } from './paired.store.ts'

/** The table `paired` with the pairs that are certain. */
export type ExactPairs = After<'pair exactly'> & Pairs

/**
 * Pairs the findings of the report with the stored findings of its streams where that is certain:
 * findings of the same file and fingerprint, if there is one on each side, or if there are equally
 * many at the same lines.
 */
export async function pairExactly(
  { tx, members }: Incoming,
  scope: MergeScope,
  streams: readonly Stream[],
): Promise<ExactPairs> {
  await createPaired(tx, scope.org_id, streams)
  // They keep the next statements fast, even when the statistics of `findings` are outdated.
  await tx`create index on paired (finding_id)`
  await tx`analyze paired`
  const earlier = streams.filter(({ reported_at }) => reported_at.getTime() > 0)
  return { tx, scope, members, earlier, counts: await countPairs(tx) } as unknown as ExactPairs
}

/**
 * Equal findings of a file are in the order of their places, so that their order in the report does
 * not matter. `lines` is equal for equally many findings at the same lines, and for all findings
 * that have no equals.
 */
async function createPaired(tx: Tx, orgId: string, streams: readonly Stream[]): Promise<void> {
  const ids = streams.map(({ id }) => id)
  const lines = tx`case when count(*) over equals > 1 then coalesce(sum(hashint4(start_line)) over equals, 0) else 0 end`
  await tx`
    create temporary table paired on commit drop as
    with reported as (
      select position, stream.id as stream_id, fingerprint, coalesce(path, '') collate "C" as path, content_hash,
        row_number() over equals as rank, count(*) over equals as total, ${lines} as lines,
        row_number() over (
          partition by stream.id, fingerprint
          order by coalesce(path, '') collate "C", start_line, start_column, end_line, content_hash, position
        )::integer - 1 as ordinal
      from incoming
      join unnest(${ids}::bigint[], ${streams.map(({ tool }) => tool)}::text[])
        as stream (id, tool) on stream.tool = incoming.tool
      window equals as (
        partition by stream.id, fingerprint, coalesce(path, '') collate "C"
        order by start_line, start_column, end_line, content_hash, position
        rows between unbounded preceding and unbounded following
      )
    ),
    stored as (
      select id, stream_id, fingerprint, coalesce(path, '') collate "C" as path, content_hash, state, last_seen_at,
        row_number() over equals as rank, count(*) over equals as total, ${lines} as lines
      from findings
      where org_id = ${orgId}
        and stream_id = any(${ids})
        and state <> 'fixed'
      window equals as (
        partition by stream_id, fingerprint, coalesce(path, '') collate "C"
        order by start_line, start_column, end_line, content_hash, ordinal
        rows between unbounded preceding and unbounded following
      )
    )
    select reported.position, case when stored.id is null then reported.ordinal end as ordinal,
      coalesce(reported.stream_id, stored.stream_id) as stream_id, stored.id as finding_id,
      stored.state = 'open' as was_open, stored.last_seen_at is not null as was_missing,
      reported.content_hash <> stored.content_hash or stored.last_seen_at is not null as is_changed,
      null::text as identity_method
    from reported
    full join stored using (stream_id, fingerprint, path, total, lines, rank)`
}
