import type { Db } from '../../platform/db/sql.ts'
import type { FailedDelivery } from '../code-host.ts'

/** Until when failed deliveries have been looked for; null: never. */
export async function findLastCheck(db: Db, provider: string): Promise<Date | null> {
  const [row] = await db<{ checked_at: Date }[]>`
    select checked_at
    from codehost_delivery_checks
    where provider = ${provider}`
  return row?.checked_at ?? null
}

export async function upsertCheck(db: Db, provider: string, at: Date): Promise<void> {
  await db`
    insert into codehost_delivery_checks as known (provider, checked_at)
    values (${provider}, ${at})
    on conflict (provider) do update
    set checked_at = greatest(known.checked_at, excluded.checked_at)`
}

/** The failed tries that the host was asked to repeat. */
export async function listRequested(db: Db, provider: string, failedIds: readonly string[]): Promise<Set<string>> {
  const rows = await db<{ failed_id: string }[]>`
    select failed_id
    from codehost_redeliveries
    where provider = ${provider}
      and failed_id = any(${[...failedIds]})`
  return new Set(rows.map(({ failed_id }) => failed_id))
}

export async function upsertRedelivery(db: Db, provider: string, failed: FailedDelivery, now: Date): Promise<void> {
  await db`
    insert into codehost_redeliveries (provider, delivery_id, failed_id, requested_at)
    values (${provider}, ${failed.delivery_id}, ${failed.id}, ${now})
    on conflict (provider, delivery_id) do update
    set failed_id = excluded.failed_id,
      requested_at = excluded.requested_at`
}

export async function deleteRedeliveries(db: Db, provider: string, before: Date): Promise<void> {
  await db`
    delete from codehost_redeliveries
    where provider = ${provider}
      and requested_at < ${before}`
}
