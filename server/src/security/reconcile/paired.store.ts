import type { Tx } from '../../platform/db/sql.ts'
import type { MergeScope } from '../issues/writing/grouping.store.ts'
import type { Stream } from './finding-stream.store.ts'
import type { After, Incoming } from './incoming.store.ts'
import { keepUnscanned, type ReportedStream } from './keep-unscanned.store.ts'
import { pairRelocated, pairReworded } from './pair-relocated.store.ts'
import type { ReportMembers } from './report-members.ts'

/**
 * The temporary table `paired`. A row without `finding_id` is a new finding of the report, and one
 * without `position` is a stored finding that the report does not contain. Findings that the report
 * does not contain have no row if they are fixed or if the tool could not scan their file. The
 * table has few columns because most reports bring no news: statements look up the rest in
 * `incoming` and `findings`.
 */
export type Paired = After<'pair'> & {
  readonly tx: Tx
  readonly scope: MergeScope
  readonly members: ReportMembers
  readonly counts: readonly PairCounts[]
}

/** Numbers of findings of one stream. `absent` ones are stored and not in the report. */
export type PairCounts = {
  stream_id: number
  fresh: number
  changed: number
  absent: number
  /**
   * Stored as open; of these, not in the report; and of these, not in the previous report either.
   */
  open: number
  missing: number
  missing_before: number
}

/** Pairs the findings of the report with the stored findings of its streams. */
export async function pairReport(
  incoming: Incoming,
  scope: MergeScope,
  streams: readonly ReportedStream[],
): Promise<Paired> {
  const { tx, members } = incoming
  await pairByFingerprint(tx, scope.org_id, streams)
  let counts: readonly PairCounts[] = await countPairs(tx)
  for (const pairMore of [pairRelocated, pairReworded]) {
    if (!counts.some(({ fresh, absent }) => fresh > 0 && absent > 0)) break
    await pairMore(tx, scope.org_id)
    counts = await countPairs(tx)
  }
  if (await keepUnscanned(tx, scope.org_id, streams)) counts = await countPairs(tx)
  return { tx, scope, members, counts } as Paired
}

/** Whether any stream has such findings. */
export function hasPairs({ counts }: Paired, kind: 'fresh' | 'changed' | 'absent'): boolean {
  return counts.some((ofStream) => ofStream[kind] > 0)
}

/**
 * Findings with equal fingerprints are paired by their order in the code, so that their order in
 * the file of the report does not matter.
 */
async function pairByFingerprint(tx: Tx, orgId: string, streams: readonly Stream[]): Promise<void> {
  const ids = streams.map(({ id }) => id)
  await tx`
    create temporary table paired on commit drop as
    with reported as (
      select position, stream.id as stream_id, fingerprint, content_hash,
        row_number() over (
          partition by stream.id, fingerprint
          order by path collate "C", start_line, end_line, content_hash, position
        )::integer - 1 as ordinal
      from incoming
      join unnest(${ids}::bigint[], ${streams.map(({ tool }) => tool)}::text[])
        as stream (id, tool) on stream.tool = incoming.tool
    ),
    stored as (
      select id, stream_id, fingerprint, ordinal, content_hash, state, last_seen_at
      from findings
      where org_id = ${orgId}
        and stream_id = any(${ids})
    )
    select reported.position, reported.ordinal, coalesce(reported.stream_id, stored.stream_id) as stream_id,
      stored.id as finding_id, stored.state = 'open' as was_open, stored.last_seen_at is not null as was_missing,
      reported.content_hash <> stored.content_hash or stored.state = 'fixed' or stored.last_seen_at is not null
        as is_changed
    from reported
    full join stored
      on stored.stream_id = reported.stream_id
      and stored.fingerprint = reported.fingerprint
      and stored.ordinal = reported.ordinal
    where reported.position is not null
      or stored.state <> 'fixed'`
  // They keep the next statements fast, even when the statistics of `findings` are outdated.
  await tx`create index on paired (finding_id)`
  await tx`analyze paired`
}

async function countPairs(tx: Tx): Promise<PairCounts[]> {
  return tx<PairCounts[]>`
    select stream_id, count(*) filter (where finding_id is null) as fresh, count(*) filter (where is_changed) as changed,
      count(*) filter (where position is null) as absent,
      count(*) filter (where was_open) as open,
      count(*) filter (where was_open and position is null) as missing,
      count(*) filter (where was_open and position is null and was_missing) as missing_before
    from paired
    group by stream_id`
}

/** Positions of the report's new findings. Read as one string, because there may be 100,000. */
export async function readNewPositions({ tx }: Paired): Promise<number[]> {
  const [row] = await tx<[{ positions: string | null }]>`
    select string_agg(position::text, ',') as positions
    from paired
    where finding_id is null`
  return row.positions === null ? [] : row.positions.split(',').map(Number)
}

export type ChangedFinding = { position: number; id: string; issue_id: string; bucket: string }

/** Stored findings that the report changes, with their issues before the change. */
export async function readChanged({ tx, scope }: Paired): Promise<ChangedFinding[]> {
  return tx<ChangedFinding[]>`
    select paired.position, finding.id, finding.issue_id, encode(issue.bucket, 'hex') as bucket
    from paired
    join findings finding on finding.org_id = ${scope.org_id} and finding.id = paired.finding_id
    join security_issues issue on issue.org_id = finding.org_id and issue.id = finding.issue_id
    where paired.position is not null
      and paired.is_changed`
}
