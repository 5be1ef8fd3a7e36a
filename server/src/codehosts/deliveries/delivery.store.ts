import type { Sql, Tx } from '../../platform/db/sql.ts'
import type { Provider } from '../../repositories/repository-identity.ts'
import { DELIVERIES_KEPT_DAYS, type DeliveryStatus, PAYLOADS_KEPT_DAYS } from './delivery.ts'

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

/** Locks a delivery. `has_payload` is false after the payload has expired. */
export async function lockDelivery(
  tx: Tx,
  id: string,
): Promise<(ListedDelivery & { has_payload: boolean; shard: number }) | null> {
  const [row] = await tx<(ListedDelivery & { has_payload: boolean; shard: number })[]>`
    select ${listedColumns(tx)}, payload is not null as has_payload, shard
    from codehost_deliveries
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
export async function resetDelivery(tx: Tx, { provider, id }: Pick<ListedDelivery, 'provider' | 'id'>): Promise<void> {
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
export async function summarizeDeliveries(sql: Sql): Promise<{ failed: number; waiting: number }> {
  const [row] = await sql<[{ failed: number; waiting: number }]>`
    select
      (select count(*) from codehost_deliveries where status = 'failed')::int as failed,
      (select count(*) from codehost_deliveries where waiting)::int as waiting`
  return row
}

const ROWS_AT_ONCE = 500

/** Deletes some of the payloads that have expired. Returns false when there are no more. */
export async function expirePayloads(sql: Sql, now: Date): Promise<boolean> {
  const { count } = await sql`
    update codehost_deliveries
    set payload = null
    where (id, provider) in (
      select id, provider
      from codehost_deliveries
      where payload is not null
        and applied_at < ${now}::timestamptz - ${PAYLOADS_KEPT_DAYS} * interval '1 day'
      limit ${ROWS_AT_ONCE}
    )`
  return count === ROWS_AT_ONCE
}

/**
 * Deletes some of the old deliveries that are not about to be applied. Returns false at the end.
 */
export async function deleteOldDeliveries(sql: Sql, now: Date): Promise<boolean> {
  const { count } = await sql`
    delete from codehost_deliveries
    where (id, provider) in (
      select id, provider
      from codehost_deliveries
      where received_at < ${now}::timestamptz - ${DELIVERIES_KEPT_DAYS} * interval '1 day'
        and (status <> 'received' or waiting)
      limit ${ROWS_AT_ONCE}
    )`
  return count === ROWS_AT_ONCE
}
