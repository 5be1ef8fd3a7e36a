import { buildAverageId } from '../../platform/db/spread.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import type { IdentityMethod } from '../vocabulary/finding.ts'
import { OTHER_LOCATIONS } from '../vocabulary/message-marks.ts'
import type { After } from './incoming.store.ts'
import type { TrackedFinding } from './matching/matching.ts'
import type { ExactPairs } from './pair-exactly.store.ts'
import { countPairs, type Pairs } from './paired.store.ts'

/** The table `paired` after the matching rules were applied to what was not certain. */
export type MatchedPairs = After<'match'> & Pairs

export type StoredCandidate = TrackedFinding & { stream_id: number; finding_id: string }
export type ReportedCandidate = TrackedFinding & {
  stream_id: number
  position: number
  /** The ids that its rule had before. */
  earlier_rules: string[] | null
}

/** More stored findings of a report's streams are not compared. The newest ones come first. */
const STORED_MAX = 200_000

/** The streams whose commits come in several reports, and the commit of this report. */
export type Parts = { inParts: readonly number[]; commit: string | null }
export type ComparedStreams = Parts & { streamIds: readonly number[] }

/**
 * SQL: whether a stored finding without a pair may have one by the rules. What another report of
 * the commit had is still there: nothing changed since.
 */
function isStoredCandidate(tx: Tx, { streamIds, inParts, commit }: ComparedStreams): ReturnType<Tx> {
  return tx`
    paired.stream_id = any(${[...streamIds]})
    and paired.position is null
    and (paired.was_open or not paired.was_missing)
    and not (
      paired.stream_id = any(${[...inParts]}::bigint[])
      and coalesce(
        finding.last_commit_sha,
        (
          select commit_sha
          from finding_streams stream
          where stream.org_id = finding.org_id
            and stream.id = finding.stream_id
        )
      ) is not distinct from ${commit}
    )`
}

/**
 * Reads the stored findings of these streams that have no pair. Dismissed findings that were
 * missing from the previous report are left out: only an exact match brings them back.
 */
export async function listStoredCandidates(
  { tx, scope }: ExactPairs,
  compared: ComparedStreams,
): Promise<StoredCandidate[]> {
  return tx<StoredCandidate[]>`
    select paired.stream_id, paired.finding_id, ${trackedColumns(tx, tx`finding`)}
    from paired
    join findings finding on finding.org_id = ${buildAverageId(tx, scope.org_id)} and finding.id = paired.finding_id
    where ${isStoredCandidate(tx, compared)}
    order by paired.was_missing, paired.finding_id desc
    limit ${STORED_MAX}`
}

/** What the rules compare: of two findings that have none of it in common, none is the other. */
const COMPARED = ['rule', 'fingerprint', 'relocation', 'context']

/**
 * Reads the findings of the report in these streams that have no pair, and a rule or a content of a
 * stored one without a pair, with all of their files and of the files of those.
 */
export async function listReportedCandidates(
  { tx, scope }: ExactPairs,
  streams: ComparedStreams,
): Promise<ReportedCandidate[]> {
  const compared = (of: ReturnType<Tx>): ReturnType<Tx> => tx`
    ${of}.path, coalesce(${of}.rule_id, '?' || ${of}.title) as rule, ${of}.fingerprint, ${of}.relocation, ${of}.context`
  const isShared = (column: string): ReturnType<Tx> => tx`${tx(column)} in (select ${tx(column)} from stored)`
  const sharesContent = COMPARED.map(isShared).reduce((one, other): ReturnType<Tx> => tx`${one} or ${other}`)
  return tx<ReportedCandidate[]>`
    with stored as materialized (
      select ${compared(tx`finding`)}
      from paired
      join findings finding on finding.org_id = ${buildAverageId(tx, scope.org_id)} and finding.id = paired.finding_id
      where ${isStoredCandidate(tx, streams)}
    ),
    fresh as materialized (
      select paired.stream_id, position, incoming.earlier_rules, ${compared(tx`incoming`)}
      from paired
      join incoming using (position)
      where paired.stream_id = any(${[...streams.streamIds]})
        and paired.finding_id is null
    ),
    shared as materialized (
      select position, stream_id, path
      from fresh
      where ${sharesContent}
        or earlier_rules && (select array_agg(distinct rule) from stored)
    )
    select fresh.stream_id, position, incoming.earlier_rules, ${trackedColumns(tx, tx`incoming`)}
    from fresh
    join incoming using (position)
    where position in (select position from shared)
      or fresh.path in (select path from shared)
      or fresh.path in (select path from stored)
    order by position`
}

/** A certain pair: the finding of the report, and where the stored one is. */
export type CertainPair = ReportedCandidate & {
  finding_id: string
  from_start_line: number | null
  from_end_line: number | null
  from_start_column: number | null
  from_end_column: number | null
}

/** A file of a stream. The path is empty for findings that are not in a file. */
export type StreamFile = { stream_id: number; path: string }

/**
 * Reads the certain pairs in these files. A file is compared as one value, because `paired` joined
 * with all files of its stream would be their product.
 */
export async function listCertainPairs(
  { tx, scope }: ExactPairs,
  files: readonly StreamFile[],
): Promise<CertainPair[]> {
  return tx<CertainPair[]>`
    select paired.stream_id, position, paired.finding_id, incoming.earlier_rules, ${trackedColumns(tx, tx`incoming`)},
      finding.start_line as from_start_line, finding.end_line as from_end_line,
      finding.start_column as from_start_column, finding.end_column as from_end_column
    from incoming
    join paired using (position)
    join unnest(
      ${files.map(({ stream_id }) => stream_id)}::bigint[], ${files.map(({ path }) => path)}::text[]
    ) as file (stream_id, path)
      on file.stream_id || ' ' || file.path = paired.stream_id || ' ' || coalesce(incoming.path, '')
    join findings finding on finding.org_id = ${buildAverageId(tx, scope.org_id)} and finding.id = paired.finding_id`
}

/** A stored finding of a stream, as the matching rules see it. */
export type StreamFinding = TrackedFinding & { finding_id: string }

/** The findings of a stream that are not fixed, the newest ones first. */
export function listStreamFindings(db: Db, orgId: string, streamId: number): Promise<StreamFinding[]> {
  return db<StreamFinding[]>`
    select finding.id as finding_id, ${trackedColumns(db, db`finding`)}
    from findings finding
    where finding.org_id = ${buildAverageId(db, orgId)}
      and finding.stream_id = ${buildAverageId(db, streamId)}
      and finding.reported_state <> 'fixed'
    order by finding.id desc
    limit ${STORED_MAX}`
}

/** The beginning of a message is enough to compare its words. */
const MESSAGE_READ = 300
const PLACES_READ = 2000

/** Half of the hashes as hex. This is enough to compare the findings of one stream. */
function trackedColumns(db: Db, of: ReturnType<Db>) {
  return db`
    ${of}.path, ${of}.start_line, ${of}.end_line, ${of}.start_column, ${of}.end_column, ${of}.rule_id,
    ${of}.kind, ${of}.resource_name,
    encode(substring(${of}.fingerprint for 16), 'hex') as fingerprint, ${of}.fingerprint_method,
    encode(${of}.relocation, 'hex') as relocation, encode(${of}.similarity, 'hex') as similarity,
    encode(${of}.context, 'hex') as context, left(${of}.description, ${MESSAGE_READ}) as message,
    left(nullif(split_part(${of}.description, ${OTHER_LOCATIONS}, 2), ''), ${PLACES_READ}) as places, ${of}.title`
}

export type CandidateMatch = { position: number; finding_id: string; method: IdentityMethod }

/** Adds these pairs. A pair of equal findings at the same place is no change. */
export async function updateMatchedPairs(exact: ExactPairs, matches: readonly CandidateMatch[]): Promise<MatchedPairs> {
  if (matches.length === 0) return exact as Pairs as MatchedPairs
  const { tx, scope } = exact
  const findingIds = matches.map(({ finding_id }) => finding_id)
  await tx`
    with matched as (
      select *
      from unnest(
        ${matches.map(({ position }) => position)}::integer[], ${findingIds}::uuid[],
        ${matches.map(({ method }) => method)}::text[]
      ) as matched (position, finding_id, method)
    ),
    finding as materialized (
      select id, fingerprint, context, content_hash
      from findings
      where org_id = ${buildAverageId(tx, scope.org_id)}
        and id = any(${findingIds}::uuid[])
    ),
    arrived as (
      delete from paired
      using matched
      where paired.position = matched.position
        and paired.finding_id is null
    )
    update paired
    set position = matched.position, identity_method = matched.method,
      ordinal = case when incoming.fingerprint <> finding.fingerprint then 0 end,
      is_changed = paired.was_missing
        or incoming.content_hash <> finding.content_hash
        or incoming.context is distinct from finding.context
        or incoming.fingerprint <> finding.fingerprint
    from matched
    join incoming using (position)
    join finding on finding.id = matched.finding_id
    where paired.finding_id = matched.finding_id`
  return { ...exact, counts: await countPairs(tx) } as Pairs as MatchedPairs
}
