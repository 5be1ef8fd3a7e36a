import type { Tx } from '../../platform/db/sql.ts'

/** Pairs findings that moved to another file or to other lines of the same file. */
export async function pairRelocated(tx: Tx, orgId: string): Promise<void> {
  await pairRest(tx, orgId, tx`relocation`)
}

/**
 * Pairs findings of which only the message changed, where the message is part of the fingerprint.
 */
export async function pairReworded(tx: Tx, orgId: string): Promise<void> {
  const location = tx`jsonb_build_array(rule_id, path, start_line, end_line, resource_name)`
  await pairRest(tx, orgId, tx`case when fingerprint_method = 'message' and rule_id is not null then ${location} end`)
}

/**
 * Pairs the remaining findings of both sides by a key. Several findings with the same key are
 * paired only within one file and when both sides have equally many: otherwise the pairs are
 * ambiguous.
 */
async function pairRest(tx: Tx, orgId: string, key: ReturnType<Tx>): Promise<void> {
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
    matched as (
      select arrived.position, arrived.ordinal, arrived.pair as arrived, departed.pair as departed
      from arrived
      join departed using (stream_id, key, rank, total)
      where total = 1
        or arrived.path is not distinct from departed.path
    ),
    moved as (
      update paired
      set position = matched.position, ordinal = matched.ordinal, is_changed = true
      from matched
      where paired.ctid = matched.departed
      returning matched.arrived
    )
    delete from paired
    using moved
    where paired.ctid = moved.arrived`
}
