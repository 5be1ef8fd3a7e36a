import type { Sql } from '../../platform/db/sql.ts'
import { enqueueRows } from '../../platform/queue/job.ts'
import { applyShard } from './apply-deliveries.job.ts'
import { computeShard, type NewDelivery } from './delivery.ts'

/**
 * Stores deliveries and queues the jobs of these shards, in one statement. A delivery that is
 * stored already is left unchanged. Rows and jobs are written in a fixed order, so that two calls
 * cannot block each other.
 */
export async function insertDeliveries(
  sql: Sql,
  deliveries: readonly NewDelivery[],
  queuedShards: readonly number[],
): Promise<void> {
  const rows = deliveries.map((delivery) => ({ ...delivery, shard: computeShard(delivery.lane) })).sort(byId)
  await sql`
    with stored as (
      insert into codehost_deliveries ${sql(rows, ...COLUMNS)}
      on conflict (id, provider) do nothing
      returning shard
    )
    ${enqueueRows(sql, applyShard, {
      payload: sql`jsonb_build_object('shard', shard)`,
      once: sql`shard::text`,
      from: sql`(select distinct shard from stored where shard = any(${queuedShards}) order by shard) as shards`,
    })}`
}

const COLUMNS = [
  'id',
  'provider',
  'event',
  'action',
  'installation_id',
  'lane',
  'shard',
  'received_at',
  'payload',
] as const

function byId(a: NewDelivery, b: NewDelivery): number {
  return a.id < b.id ? -1 : Number(a.id > b.id)
}
