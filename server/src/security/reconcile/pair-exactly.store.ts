import { buildAverageId, buildAverageIds, isSpread } from '../../platform/db/spread.ts'
import type { Tx } from '../../platform/db/sql.ts'
import type { ReportTool } from '../formats/report/parsed-report.ts'
import type { MergeScope } from '../writing/grouping.store.ts'
import type { Stream } from './finding-stream.store.ts'
import type { After, Incoming } from './incoming.store.ts'
import { countPairs, hasPairs, type Pairs, updatePairIndexes } from './paired.store.ts'

/** The table `paired` with the pairs that are certain. */
export type ExactPairs = After<'pair exactly'> & Pairs

/** Pairs the findings of the report with the stored findings of its streams where it is certain. */
export async function insertExactPairs(
  { tx, members }: Incoming,
  scope: MergeScope,
  streams: readonly ReportedStream[],
): Promise<ExactPairs> {
  const earlier = streams.filter(({ reported_at }) => reported_at.getTime() > 0)
  if (earlier.length > 0) await createPaired(tx, scope.org_id, streams)
  else await createUnpaired(tx, streams)
  const pairs: Pairs = { tx, scope, members, earlier, counts: await countPairs(tx) }
  const isAnyNews = (['fresh', 'changed', 'absent'] as const).some((kind) => hasPairs(pairs, kind))
  if (isAnyNews) await updatePairIndexes(tx)
  return pairs as ExactPairs
}

/** All findings of the report are new. */
async function createUnpaired(tx: Tx, streams: readonly NamedStream[]): Promise<void> {
  await tx`
    create temporary table paired on commit drop as
    select position, stream.id as stream_id, null::uuid as finding_id, null::boolean as was_open,
      null::boolean as was_missing, null::boolean as is_changed, null::text as identity_method,
      row_number() over (partition by stream.id, fingerprint order by position)::integer - 1 as ordinal
    from incoming
    join ${buildNamedStreams(tx, streams)} on stream.tool = incoming.tool`
}

/**
 * A pair is certain if one finding on each side has the fingerprint and the path (and the secret),
 * or if there are equally many at the same lines. `lines` is equal in both cases. Where several
 * reports share a commit, those at each line are compared by themselves: nothing moved between
 * them. The order of equal findings does not depend on their order in the report.
 */
async function createPaired(tx: Tx, orgId: string, streams: readonly ReportedStream[]): Promise<void> {
  const inParts = streams.filter(({ isInParts }) => isInParts).map(({ id }) => id)
  const ownLine = (streamId: ReturnType<Tx>) =>
    tx`coalesce(case when ${streamId} = any(${inParts}::bigint[]) then start_line end, 0)`
  const path = tx`coalesce(path, '') collate "C"`
  const lines = tx`
    case
      when count(*) over equals > 1
      then coalesce(sum(hashint4(start_line)) over equals, 0) + count(*) over equals
      else 0
    end`
  // Tools give secrets of one commit the same fingerprint, but another secret is another problem.
  const secret = tx`coalesce(case when kind = 'secret' then context end, '')`
  const allRows = tx`rows between unbounded preceding and unbounded following`
  // On several servers, each part is read where its rows are.
  const ownPart = isSpread() ? tx`materialized` : tx``
  await tx`
    create temporary table paired on commit drop as
    with reported as ${ownPart} (
      select position, stream.id as stream_id, fingerprint, ${path} as path, ${secret} as secret,
        ${ownLine(tx`stream.id`)} as own_line, context,
        content_hash, row_number() over equals as rank, ${lines} as lines
      from incoming
      join ${buildNamedStreams(tx, streams)} on stream.tool = incoming.tool
      window equals as (
        partition by stream.id, fingerprint, ${path}, ${secret}, ${ownLine(tx`stream.id`)}
        order by start_line, start_column, end_line, content_hash, position
        ${allRows}
      )
    ),
    stored as ${ownPart} (
      select id, stream_id, fingerprint, ${path} as path, ${secret} as secret, ${ownLine(tx`stream_id`)} as own_line,
        context, content_hash, reported_state, last_seen_at, row_number() over equals as rank, ${lines} as lines
      from findings
      where org_id = ${buildAverageId(tx, orgId)}
        and stream_id = any(${buildAverageIds(
          tx,
          streams.map(({ id }) => id),
        )})
        and reported_state <> 'fixed'
      window equals as (
        partition by stream_id, fingerprint, ${path}, ${secret}, ${ownLine(tx`stream_id`)}
        order by start_line, start_column, end_line, content_hash, ordinal
        ${allRows}
      )
    )
    select reported.position, stream_id, stored.id as finding_id, stored.reported_state = 'open' as was_open,
      stored.last_seen_at is not null as was_missing,
      reported.content_hash <> stored.content_hash or reported.context is distinct from stored.context
        or stored.last_seen_at is not null as is_changed,
      null::text as identity_method, case when stored.id is null then 0 end as ordinal
    from reported
    full join stored using (stream_id, fingerprint, path, secret, own_line, lines, rank)`
}

export function buildNamedStreams(tx: Tx, streams: readonly NamedStream[]) {
  const named = streams.flatMap(({ id, names }) => names.map((name) => ({ id, name })))
  const ids = named.map(({ id }) => id)
  const names = named.map(({ name }) => name)
  return tx`unnest(${ids}::bigint[], ${names}::text[]) as stream (id, tool)`
}

/** A stream with the names that its tool has in the report (`formatReportedTool`). */
export type NamedStream = Stream & { names: readonly string[] }
/**
 * A stream with what the report states of its tool. `isInParts`: this commit, or the one before,
 * comes in several reports, so that what one lacks another may have.
 */
export type ReportedStream = NamedStream & { reported: ReportTool; unscanned: readonly string[]; isInParts: boolean }

/**
 * Leaves stored findings as they are if the tool could not scan their files: they are neither
 * missing nor fixed, and they did not move to another file. A rule with a finding in such a file
 * was run on it, like the rule that reports the invalid syntax itself.
 */
export async function deleteUnscannedPairs(exact: ExactPairs, streams: readonly ReportedStream[]): Promise<ExactPairs> {
  const unscanned = streams.flatMap(({ id, unscanned: paths }) => paths.map((path) => ({ id, path })))
  if (unscanned.length === 0) return exact
  const { tx, scope } = exact
  await tx`
    delete from paired
    using unnest(${unscanned.map(({ id }) => id)}::bigint[], ${unscanned.map(({ path }) => path)}::text[])
      as unscanned (stream_id, path), findings finding
    where paired.position is null
      and paired.stream_id = unscanned.stream_id
      and finding.org_id = ${buildAverageId(tx, scope.org_id)}
      and finding.id = paired.finding_id
      and finding.path = unscanned.path
      and not exists (
        select
        from paired reported
        join incoming using (position)
        where reported.stream_id = unscanned.stream_id
          and incoming.path = finding.path
          and incoming.rule_id = finding.rule_id
      )`
  return { ...exact, counts: await countPairs(tx) }
}
