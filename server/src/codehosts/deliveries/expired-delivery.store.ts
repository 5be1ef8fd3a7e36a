import { DAY_MS } from '../../platform/clock.ts'
import type { ExpiringShared } from '../../platform/db/expiring-rows.ts'
import type { Db } from '../../platform/db/sql.ts'

/** How long payloads are kept after they were applied, and deliveries after they were received. */
const PAYLOADS_KEPT_MS = 14 * DAY_MS
const DELIVERIES_KEPT_MS = 90 * DAY_MS

/** A failed or waiting delivery keeps its payload for as long as the delivery itself is kept. */
const payloads: ExpiringShared = {
  kind: 'delivery_payloads',
  count: (db, at) => countExpired(db, oldPayloads(db, at)),
  async remove(tx, at, limit) {
    const { count } = await tx`
      update codehost_deliveries
      set payload = null
      where (id, provider) in (
        select id, provider
        ${oldPayloads(tx, at)}
        limit ${limit}
      )`
    return count
  },
}

/** Those that are about to be applied stay. */
const deliveries: ExpiringShared = {
  kind: 'deliveries',
  count: (db, at) => countExpired(db, oldDeliveries(db, at)),
  async remove(tx, at, limit) {
    const { count } = await tx`
      delete from codehost_deliveries
      where (id, provider) in (
        select id, provider
        ${oldDeliveries(tx, at)}
        limit ${limit}
      )`
    return count
  },
}

function oldPayloads(db: Db, at: Date): ReturnType<Db> {
  return db`
    from codehost_deliveries
    where payload is not null
      and applied_at < ${new Date(at.getTime() - PAYLOADS_KEPT_MS)}`
}

function oldDeliveries(db: Db, at: Date): ReturnType<Db> {
  return db`
    from codehost_deliveries
    where received_at < ${new Date(at.getTime() - DELIVERIES_KEPT_MS)}
      and (status <> 'received' or waiting)`
}

async function countExpired(db: Db, rows: ReturnType<Db>): Promise<number> {
  const [row] = await db<[{ count: number }]>`
    select count(*) as count
    ${rows}`
  return row.count
}

export const expiringDeliveries: readonly ExpiringShared[] = [payloads, deliveries]
