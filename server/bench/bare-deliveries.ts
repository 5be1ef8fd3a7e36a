import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Sql } from '../src/platform/db/sql.ts'
import { INSTALLATION, WEBHOOK_SECRET } from './deliveries.ts'

/** The row that our server stores, with the primary key as the only index. */
export async function createDeliveryTable(sql: Sql): Promise<void> {
  await sql`
    create table if not exists bare_deliveries (
      id text primary key,
      provider text not null,
      event text not null,
      action text not null,
      installation_id text not null,
      lane text not null,
      shard smallint not null,
      received_at timestamptz not null,
      payload text not null,
      status text not null
    )`
}

/** Checks the signature and inserts one row. */
export async function insertDelivery(sql: Sql, headers: IncomingHttpHeaders, body: string) {
  const expected = `sha256=${createHmac('sha256', WEBHOOK_SECRET).update(body).digest('hex')}`
  const given = String(headers['x-hub-signature-256'])
  if (!timingSafeEqual(Buffer.from(expected), Buffer.from(given))) throw new Error('The signature is wrong')
  const { 'x-github-delivery': id, 'x-github-event': event } = headers
  await sql`
    insert into bare_deliveries (
      id, provider, event, action, installation_id, lane, shard, received_at, payload, status
    )
    values (
      ${String(id)}, 'github', ${String(event)}, 'created', ${INSTALLATION}, 'repository:1001', 3, ${new Date()}, ${body},
      'received'
    )`
  return {}
}

/**
 * Reads the stored deliveries in transactions of their own, parses them and marks them as applied.
 */
export async function applyDeliveries(sql: Sql, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await sql.begin(async (tx) => {
      const [row] = await tx`select payload from codehost_deliveries where id = ${id} for update`
      JSON.parse(row?.payload)
      await tx`update codehost_deliveries set status = 'applied', applied_at = now() where id = ${id}`
    })
  }
}
