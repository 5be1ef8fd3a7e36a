import type { Db, Sql, Tx } from '../../platform/db/sql.ts'
import type { Provider } from '../catalogue.ts'
import { ATTEMPTS_MAX, computeNextTry, type DeliveryStatus } from './delivery.ts'

/** Names a delivery. */
type DeliveryKey = { provider: Provider; id: string }

/** A delivery whose try has been counted. `attempts` includes it. */
export type ClaimedDelivery = DeliveryKey & { lane: string; installation_id: string | null; attempts: number }

/** A delivery while it is applied. Its row is locked. */
export type LockedDelivery = DeliveryKey & {
  event: string
  installation_id: string | null
  payload: string
  received_at: Date
  /** Whether earlier deliveries of the installation wait to be released. */
  has_waiting: boolean
}

const CLAIMED_MAX = 20
/** Among so many of the oldest deliveries of a shard, installations take turns. */
const TURNS_AMONG = 1000

/**
 * Counts a try of the next deliveries of a shard, and returns them in the order of receipt. Ends
 * before the first delivery that was tried before. Installations take turns, so that one with many
 * deliveries does not hold up those of others.
 */
export async function updateClaimedUntried(sql: Sql, shard: number, now: Date): Promise<ClaimedDelivery[]> {
  const claimed = await sql<(ClaimedDelivery & { number: number })[]>`
    with oldest as (
      select provider, id, number, attempts, installation_id
      from codehost_deliveries delivery
      where ${isDue(sql, shard, now)}
      order by number
      limit ${TURNS_AMONG}
    ), placed as (
      select provider, id, number, attempts,
        row_number() over (partition by provider, installation_id order by number) as place
      from oldest
    ), next as (
      select provider, id, attempts, row_number() over (order by place, number) as turn
      from placed
      order by turn
      limit ${CLAIMED_MAX}
    ), retried as (
      select min(turn) as turn from next where attempts > 0
    )
    update codehost_deliveries claimed
    set attempts = claimed.attempts + 1
    from next, retried
    where claimed.id = next.id
      and claimed.provider = next.provider
      and claimed.status = 'received'
      and (retried.turn is null or next.turn < retried.turn)
    returning claimed.provider, claimed.id, claimed.lane, claimed.installation_id, claimed.attempts, claimed.number`
  return claimed.sort((a, b) => a.number - b.number)
}

/** Counts a try of the next delivery of a shard that was tried before. */
export async function updateClaimedRetry(sql: Sql, shard: number, now: Date): Promise<ClaimedDelivery | null> {
  const [claimed] = await sql<ClaimedDelivery[]>`
    with next as (
      select provider, id
      from codehost_deliveries delivery
      where ${isDue(sql, shard, now)}
        and attempts > 0
      order by number
      limit 1
    )
    update codehost_deliveries claimed
    set attempts = claimed.attempts + 1
    from next
    where claimed.id = next.id
      and claimed.provider = next.provider
      and claimed.status = 'received'
    returning claimed.provider, claimed.id, claimed.lane, claimed.installation_id, claimed.attempts`
  return claimed ?? null
}

export async function hasPending(sql: Sql, shard: number, now: Date): Promise<boolean> {
  const [row] = await sql<[{ found: boolean }]>`
    select exists (
      select from codehost_deliveries delivery
      where ${isDue(sql, shard, now)}
    ) as found`
  return row.found
}

/** Locks a delivery. Null if it was settled meanwhile, or if its lane waits for an earlier one. */
export async function lockPending(tx: Tx, { provider, id }: DeliveryKey, now: Date): Promise<LockedDelivery | null> {
  const [row] = await tx<LockedDelivery[]>`
    select provider, id, event, installation_id, payload, received_at,
      exists (
        select from codehost_deliveries other
        where other.provider = delivery.provider
          and other.installation_id = delivery.installation_id
          and other.waiting
      ) as has_waiting
    from codehost_deliveries delivery
    where id = ${id}
      and provider = ${provider}
      and status = 'received'
      and not waiting
      and (next_try_at is null or next_try_at <= ${now})
      and not exists (
        select from codehost_deliveries paused
        where paused.shard = delivery.shard
          and paused.lane = delivery.lane
          and paused.next_try_at > ${now}
      )
    for update`
  return row ?? null
}

/** Pending, not paused, and not behind a paused delivery of the same lane. */
function isDue(db: Db, shard: number, now: Date) {
  return db`
    delivery.shard = ${shard}
    and delivery.status = 'received'
    and not delivery.waiting
    and (delivery.next_try_at is null or delivery.next_try_at <= ${now})
    and delivery.lane not in (
      select lane
      from codehost_deliveries
      where shard = ${shard}
        and next_try_at > ${now}
    )`
}

/** Shards with deliveries that can be applied now. */
export async function listDueShards(sql: Sql, now: Date): Promise<number[]> {
  const rows = await sql<{ shard: number }[]>`
    select distinct shard
    from codehost_deliveries
    where status = 'received'
      and not waiting
      and (next_try_at is null or next_try_at <= ${now})`
  return rows.map(({ shard }) => shard)
}

export type Settlement = { status: Exclude<DeliveryStatus, 'received'>; error?: string }

/** Ends the work on a delivery, until it is replayed. */
export async function updateDeliverySettled(
  db: Db,
  { provider, id }: DeliveryKey,
  { status, error }: Settlement,
  now: Date,
): Promise<void> {
  await db`
    update codehost_deliveries
    set status = ${status},
      attempts = least(attempts, ${ATTEMPTS_MAX}),
      error = ${error ?? null},
      next_try_at = null,
      applied_at = ${status === 'failed' ? null : now}
    where id = ${id}
      and provider = ${provider}
      and status = 'received'`
}

/**
 * Pauses a delivery whose try failed, together with its lane. After the last try it is `failed`.
 */
export async function updateDeliveryFailedTry(
  sql: Sql,
  { attempts, provider, id }: ClaimedDelivery,
  error: string,
  now: Date,
): Promise<void> {
  const next_try_at = computeNextTry(attempts, now)
  if (next_try_at === null || attempts >= ATTEMPTS_MAX)
    return updateDeliverySettled(sql, { provider, id }, { status: 'failed', error }, now)
  await sql`
    update codehost_deliveries
    set error = ${error},
      next_try_at = ${next_try_at}
    where id = ${id}
      and provider = ${provider}
      and status = 'received'`
}

/** The delivery waits until its installation is connected. Its tries do not count. */
export async function updateDeliveryWaiting(tx: Tx, { provider, id }: DeliveryKey): Promise<void> {
  await tx`
    update codehost_deliveries
    set waiting = true,
      attempts = 0,
      error = null,
      next_try_at = null
    where id = ${id}
      and provider = ${provider}`
}

/** Lets the deliveries of an installation be applied. Returns their shards. */
export async function updateWaitingReleased(db: Db, provider: Provider, installationId: string): Promise<number[]> {
  const rows = await db<{ shard: number }[]>`
    with released as (
      update codehost_deliveries
      set waiting = false
      where provider = ${provider}
        and installation_id = ${installationId}
        and waiting
      returning shard
    )
    select distinct shard
    from released
    order by shard`
  return rows.map(({ shard }) => shard)
}
