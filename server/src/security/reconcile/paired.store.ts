import { buildAverageId } from '../../platform/db/spread.ts'
import type { Tx } from '../../platform/db/sql.ts'
import type { MergeScope } from '../writing/grouping.store.ts'
import type { Stream } from './finding-stream.store.ts'
import type { After } from './incoming.store.ts'
import type { ReportMembers } from './report-members.ts'

/**
 * The temporary table `paired`. A row without `finding_id` is a new finding of the report, and one
 * without `position` is a stored finding that the report does not contain. Findings that the report
 * does not contain have no row if they are fixed or if the tool could not scan their file.
 * `ordinal` is null for findings that keep theirs. The table has few columns because most reports
 * bring no news: statements look up the rest in `incoming` and `findings`.
 */
export type Pairs = {
  readonly tx: Tx
  readonly scope: MergeScope
  readonly members: ReportMembers
  /** The streams that had an earlier report. All findings of the others are new. */
  readonly earlier: readonly Stream[]
  readonly counts: readonly PairCounts[]
}

/** The table `paired` after the last step of `matchReport`. */
export type Paired = After<'pair'> & Pairs

/** Numbers of findings of one stream. `absent` ones are stored and not in the report. */
export type PairCounts = {
  stream_id: number
  /** In the report. */
  reported: number
  fresh: number
  changed: number
  absent: number
  /**
   * Stored as open; of these, not in the report; and of these, not in the previous report either.
   */
  open: number
  missing: number
  missing_before: number
  /** In the report, but not in the previous one. */
  returned: number
}

/**
 * Keeps statements that join `paired` fast: later ones change most of its rows, and nothing
 * analyses
 * `incoming`.
 */
export async function updatePairIndexes(tx: Tx): Promise<void> {
  await tx`create index on paired (finding_id)`
  await tx`create unique index on incoming (position)`
  await tx`analyze paired`
}

export async function countPairs(tx: Tx): Promise<PairCounts[]> {
  return tx<PairCounts[]>`
    select stream_id, count(*) filter (where position is not null) as reported,
      count(*) filter (where finding_id is null) as fresh, count(*) filter (where is_changed) as changed,
      count(*) filter (where position is null) as absent,
      count(*) filter (where was_open) as open,
      count(*) filter (where was_open and position is null) as missing,
      count(*) filter (where was_open and position is null and was_missing) as missing_before,
      count(*) filter (where was_open and position is not null and was_missing) as returned
    from paired
    group by stream_id`
}

/** A finding that the report lacks. Those that the report before dismissed are not open. */
export type Missing = {
  finding_id: string
  was_open: boolean
  /** Whether the previous report lacked it, too. */
  was_missing: boolean
  /** Whether the commit before was reported in parts, of which one had it. */
  was_in_part: boolean
  /** The beginning of it, in hex. */
  fingerprint: string
  path: string | null
  rule_id: string | null
  purl: string | null
  package_name: string | null
  package_version: string | null
}

/** The findings of a stream that the report lacks. */
export async function listMissing(
  { tx, scope }: Pairs,
  { id, parts_since }: Pick<Stream, 'id' | 'parts_since'>,
): Promise<Missing[]> {
  return tx<Missing[]>`
    select finding.id as finding_id, paired.was_open, paired.was_missing,
      ${parts_since}::timestamptz is not null and coalesce(finding.last_seen_at >= ${parts_since}, true) as was_in_part,
      encode(substring(finding.fingerprint for 16), 'hex') as fingerprint, finding.path, finding.rule_id, finding.purl,
      finding.package_name, finding.package_version
    from paired
    join findings finding on finding.org_id = ${buildAverageId(tx, scope.org_id)} and finding.id = paired.finding_id
    where paired.stream_id = ${id}
      and paired.position is null`
}

/** The directories in which the report has findings of a stream. The top one is empty. */
export async function listDirectories({ tx }: Pairs, streamId: number): Promise<string[]> {
  const rows = await tx<{ directory: string }[]>`
    select distinct coalesce(substring(path from '^(.*)/'), '') as directory
    from paired
    join incoming using (position)
    where paired.stream_id = ${streamId}`
  return rows.map(({ directory }) => directory)
}

/** Whether any stream has such findings. */
export function hasPairs({ counts }: Pairs, kind: 'fresh' | 'changed' | 'absent'): boolean {
  return counts.some((ofStream) => ofStream[kind] > 0)
}

/**
 * Positions of the report's new findings, in order. Read as one string, because there may be
 * 100,000, and not at all if all are new.
 */
export async function listNewPositions({ tx, counts, members }: Paired): Promise<Iterable<number>> {
  const fresh = counts.reduce((sum, ofStream) => sum + ofStream.fresh, 0)
  if (fresh === members.size) return Array(fresh).keys()
  const [row] = await tx<[{ positions: string | null }]>`
    select string_agg(position::text, ',') as positions
    from paired
    where finding_id is null`
  return row.positions === null ? [] : Int32Array.from(row.positions.split(','), Number).sort()
}

export type ChangedFinding = { position: number; id: string; issue_id: string; bucket: string }

/** Stored findings that the report changes, with their issues before the change. */
export async function listChanged(paired: Paired): Promise<ChangedFinding[]> {
  if (!hasPairs(paired, 'changed')) return []
  const { tx, scope } = paired
  return tx<ChangedFinding[]>`
    select paired.position, finding.id, finding.issue_id, encode(issue.bucket, 'hex') as bucket
    from paired
    join findings finding on finding.org_id = ${buildAverageId(tx, scope.org_id)} and finding.id = paired.finding_id
    join security_issues issue on issue.org_id = finding.org_id and issue.id = finding.issue_id
    where paired.position is not null
      and paired.is_changed`
}
