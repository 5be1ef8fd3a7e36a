import { type Copy, openCopy } from '../../platform/db/copy-rows.ts'
import type { Tx } from '../../platform/db/sql.ts'
import type { Stream } from './finding-stream.store.ts'
import { INCOMING_COLUMNS } from './incoming-finding.ts'

/** Opens the temporary table that a report's findings are copied into. It ends with the transaction. */
export async function copyIncoming(tx: Tx): Promise<Copy> {
  await tx`set local statement_timeout = 0`
  await tx`set local work_mem = '64MB'`
  await tx`
    create temporary table incoming (
      position integer, tool text, fingerprint bytea, fingerprint_method text, relocation bytea,
      context bytea, content_hash bytea, kind text, type text, severity text, state text, dismiss_reason text, dismiss_comment text,
      title text, description text, native_url text, path text, start_line integer, end_line integer,
      package_name text, package_version text, fixed_version text, purl text, vuln_ids text[], cwes text[],
      rule_id text, secret_type text, resource_name text, scanner_score real, cvss_version text, cvss_score real,
      cvss_vector text
    ) on commit drop`
  return openCopy(tx, 'incoming', INCOMING_COLUMNS)
}

/**
 * Pairs what the report holds with what its streams hold: by fingerprint, and among equals by place, so that order in
 * the file is nothing. A row without `finding_id` is new, one without `position` is missing from the report; fixed ones
 * that stay away are no rows. Narrow, because most reports say nothing new: the rest is looked up where it is needed.
 */
export async function pairIncoming(tx: Tx, orgId: string, streams: Stream[]): Promise<void> {
  await tx`
    create temporary table paired on commit drop as
    with placed as (
      select position, stream.id as stream_id, fingerprint, content_hash,
        row_number() over (
          partition by stream.id, fingerprint
          order by path collate "C", start_line, end_line, content_hash, position
        )::integer - 1 as ordinal
      from incoming
      join unnest(${streams.map((stream) => stream.id)}::bigint[], ${streams.map((stream) => stream.tool)}::text[])
        as stream (id, tool) on stream.tool = incoming.tool
    ),
    stored as (
      select id, stream_id, fingerprint, ordinal, content_hash, state, last_seen_at
      from findings
      where org_id = ${orgId}
        and stream_id = any(${streams.map((stream) => stream.id)})
    )
    select placed.position, placed.ordinal, coalesce(placed.stream_id, stored.stream_id) as stream_id,
      stored.id as finding_id, stored.state = 'open' as was_open, stored.last_seen_at is not null as was_missing,
      placed.content_hash <> stored.content_hash or stored.state = 'fixed' or stored.last_seen_at is not null
        as is_changed
    from placed
    full join stored
      on stored.stream_id = placed.stream_id
      and stored.fingerprint = placed.fingerprint
      and stored.ordinal = placed.ordinal
    where placed.position is not null
      or stored.state <> 'fixed'`
  // Statistics and index keep the statements that follow quick where those of `findings` are out of date.
  await tx`create index on paired (finding_id)`
  await tx`analyze paired`
}

/**
 * Pairs what is left over on both sides where only the place has changed: one finding in another file, or as many in one
 * file on other lines. Where there are more on one side nobody can tell which is which, and they stay apart.
 */
export async function pairRelocated(tx: Tx, orgId: string): Promise<void> {
  await pairLeft(tx, orgId, tx`relocation`)
}

/**
 * Pairs what is left over on both sides where the message alone tells findings apart and only the message has changed: one rule
 * at one place, on both sides as many.
 */
export async function pairReworded(tx: Tx, orgId: string): Promise<void> {
  const place = tx`jsonb_build_array(rule_id, path, start_line, end_line, resource_name)`
  await pairLeft(tx, orgId, tx`case when fingerprint_method = 'message' and rule_id is not null then ${place} end`)
}

/** By a key of columns that findings and what the report holds share; what has none stays as it is. */
async function pairLeft(tx: Tx, orgId: string, key: ReturnType<Tx>): Promise<void> {
  await tx`
    with arriving as (
      select paired.ctid as pair, paired.stream_id, position, ordinal, path, start_line, end_line, ${key} as key
      from paired
      join incoming using (position)
      where paired.finding_id is null
    ),
    arrived as (
      select pair, stream_id, position, ordinal, path, key, count(*) over (partition by stream_id, key) as total,
        row_number() over (partition by stream_id, key order by start_line, end_line, position) as rank
      from arriving
      where key is not null
    ),
    departing as (
      select paired.ctid as pair, paired.stream_id, finding.id, finding.ordinal, path, start_line, end_line, ${key} as key
      from paired
      join findings finding on finding.org_id = ${orgId} and finding.id = paired.finding_id
      where paired.position is null
        and (paired.was_open or not paired.was_missing)
    ),
    departed as (
      select pair, stream_id, path, key, count(*) over (partition by stream_id, key) as total,
        row_number() over (partition by stream_id, key order by start_line, end_line, ordinal, id) as rank
      from departing
      where key is not null
    ),
    relocated as (
      select arrived.position, arrived.ordinal, arrived.pair as arrived, departed.pair as departed
      from arrived
      join departed using (stream_id, key, rank, total)
      where total = 1
        or arrived.path is not distinct from departed.path
    ),
    found as (
      update paired
      set position = relocated.position, ordinal = relocated.ordinal, is_changed = true
      from relocated
      where paired.ctid = relocated.departed
      returning relocated.arrived
    )
    delete from paired
    using found
    where paired.ctid = found.arrived`
}

/**
 * How many of a stream's findings are new, have changed and are absent from the report, and of the open ones how many there are, the
 * report does not hold, and the report before it did not hold either.
 */
export type PairCounts = {
  stream_id: number
  fresh: number
  changed: number
  absent: number
  open: number
  missing: number
  missing_before: number
}

export async function countPairs(tx: Tx): Promise<PairCounts[]> {
  return tx<PairCounts[]>`
    select stream_id, count(*) filter (where finding_id is null) as fresh, count(*) filter (where is_changed) as changed,
      count(*) filter (where position is null) as absent,
      count(*) filter (where was_open) as open,
      count(*) filter (where was_open and position is null) as missing,
      count(*) filter (where was_open and position is null and was_missing) as missing_before
    from paired
    group by stream_id`
}
