import { buildPageEndCondition } from '../../platform/db/page.ts'
import type { Db, Sql, Tx } from '../../platform/db/sql.ts'
import type { Page, PageRow } from '../../platform/http/lists.ts'
import { enqueueRows } from '../../platform/queue/job.ts'
import type { Provider } from '../catalogue.ts'
import { applyShard, DELIVERIES } from './deliveries.job.ts'
import { computeShard, type DeliveryStatus, type NewDelivery } from './delivery.ts'

/** A delivery without its payload. */
export type ListedDelivery = {
  id: string
  provider: Provider
  event: string
  action: string | null
  installation_id: string | null
  status: DeliveryStatus
  /** True while its installation is not connected. */
  waiting: boolean
  attempts: number
  error: string | null
  received_at: Date
  applied_at: Date | null
}

/** The newest deliveries first, of all statuses or of one. */
export async function listDeliveries(
  sql: Sql,
  status: DeliveryStatus | null,
  limit: number,
): Promise<ListedDelivery[]> {
  return sql<ListedDelivery[]>`
    select ${listedColumns(sql)}
    from codehost_deliveries
    ${status === null ? sql`` : sql`where status = ${status}`}
    order by number desc
    limit ${limit}`
}

/**
 * One page of the deliveries of the installations that an organization has connected, newest first,
 * and one more row when there is a next page.
 */
export async function listOwnDeliveries(
  db: Db,
  orgId: string,
  page: Page,
  status: DeliveryStatus | undefined,
): Promise<PageRow[]> {
  const { since, limit } = page
  return db<PageRow[]>`
    select delivery.received_at as created_at, delivery.id, ${deliveryJson(db)} as json
    from codehost_connections connection
    cross join lateral (
      select id, provider, event, action, installation_id, status, waiting, attempts, error, received_at, applied_at,
        payload
      from codehost_deliveries found
      where found.provider = connection.provider
        and found.installation_id = connection.installation_id
        and found.received_at >= ${since}
        and ${buildPageEndCondition(db, page, { at: db`found.received_at`, id: db`found.id` })}
        ${status === undefined ? db`` : db`and found.status = ${status}`}
      order by found.received_at desc, found.id desc
      limit ${limit + 1}
    ) delivery
    where connection.org_id = ${orgId}
      and connection.status <> 'removed'
    order by delivery.received_at desc, delivery.id desc
    limit ${limit + 1}`
}

/** A delivery as JSON text; null unless its installation is connected to the organization. */
export async function findOwnDelivery(db: Db, orgId: string, id: string): Promise<string | null> {
  const [row] = await db<{ json: string }[]>`
    select ${deliveryJson(db)} as json
    from codehost_deliveries delivery
    where delivery.id = ${id}
      and exists (${buildConnection(db)} and connection.org_id = ${orgId})
    order by delivery.provider
    limit 1`
  return row?.json ?? null
}

/** The start of a payload; null if it has expired, or unless its installation is connected. */
export async function findOwnPayload(
  db: Db,
  { orgId, id }: { orgId: string; id: string },
  charsMax: number,
): Promise<{ payload: string; truncated: boolean } | null> {
  const [row] = await db<{ payload: string; truncated: boolean }[]>`
    select left(payload, ${charsMax}) as payload, length(payload) > ${charsMax} as truncated
    from codehost_deliveries delivery
    where delivery.id = ${id}
      and payload is not null
      and exists (${buildConnection(db)} and connection.org_id = ${orgId})
    order by delivery.provider
    limit 1`
  return row ?? null
}

/** Selects the connection that the installation of a delivery belongs to. */
function buildConnection(db: Db) {
  return db`
    select connection.org_id
    from codehost_connections connection
    where connection.provider = delivery.provider
      and connection.installation_id = delivery.installation_id
      and connection.status <> 'removed'`
}

function deliveryJson(db: Db) {
  return db`(
    select row_to_json(item)::text
    from (
      select delivery.id, delivery.provider, delivery.event, delivery.action, delivery.installation_id,
        delivery.status, delivery.waiting, delivery.attempts, delivery.error,
        rfc3339(delivery.received_at) as received_at, rfc3339(delivery.applied_at) as applied_at,
        delivery.payload is not null as has_payload
    ) item
  )`
}

type LockedDelivery = ListedDelivery & { org_id: string | null; has_payload: boolean; shard: number }

/**
 * Locks a delivery. `org_id` is null while no organization has connected its installation.
 * `has_payload` is false after the payload has expired.
 */
export async function lockDelivery(tx: Tx, id: string): Promise<LockedDelivery | null> {
  const [row] = await tx<LockedDelivery[]>`
    select ${listedColumns(tx)}, payload is not null as has_payload, shard, (${buildConnection(tx)} limit 1) as org_id
    from codehost_deliveries delivery
    where id = ${id}
    order by provider
    limit 1
    for update`
  return row ?? null
}

function listedColumns(db: Sql | Tx) {
  return db`id, provider, event, action, installation_id, status, waiting, attempts, error, received_at, applied_at`
}

/** The delivery is applied again, as if it had just been received. */
export async function updateDeliveryReset(
  tx: Tx,
  { provider, id }: Pick<ListedDelivery, 'provider' | 'id'>,
): Promise<void> {
  await tx`
    update codehost_deliveries
    set status = 'received',
      attempts = 0,
      error = null,
      applied_at = null
    where id = ${id}
      and provider = ${provider}`
}

/** The numbers of failed deliveries and of deliveries that wait for a connection. */
export async function countDeliveries(sql: Sql): Promise<{ failed: number; waiting: number }> {
  const [row] = await sql<[{ failed: number; waiting: number }]>`
    select
      (select count(*) from codehost_deliveries where status = 'failed')::int as failed,
      (select count(*) from codehost_deliveries where waiting)::int as waiting`
  return row
}

type PendingDeliveries = { pending: number; waiting: number; failed: number; oldest_at: Date | null }

/**
 * The numbers of deliveries that are about to be applied, that wait for a connection and that have
 * failed, and when the oldest of the first was received.
 */
export async function countUnapplied(sql: Sql): Promise<PendingDeliveries> {
  const [row] = await sql<[PendingDeliveries]>`
    select count(*)::int as pending, min(received_at) as oldest_at,
      (select count(*) from codehost_deliveries where waiting)::int as waiting,
      (select count(*) from codehost_deliveries where status = 'failed')::int as failed
    from codehost_deliveries
    where status = 'received'
      and not waiting`
  return row
}

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
  const rows = deliveries
    .map((delivery) => ({ ...delivery, shard: computeShard(delivery.lane) }))
    .sort((a, b) => (a.id < b.id ? -1 : Number(a.id > b.id)))
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
      waitsFor: DELIVERIES,
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
