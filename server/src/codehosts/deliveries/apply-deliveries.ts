import { runConcurrently } from '../../platform/concurrency.ts'
import { runDrainAlone } from '../../platform/db/advisory-lock.ts'
import { getSqlState } from '../../platform/db/sql.ts'
import { defineCounter } from '../../platform/metrics.ts'
import { enqueue } from '../../platform/queue/job.ts'
import { isUnreachable } from '../../platform/unreachable.ts'
import { type ApplyContext, applyDelivery } from './apply-delivery.ts'
import { applyShard } from './deliveries.job.ts'
import { ATTEMPTS_MAX } from './delivery.ts'
import type { HandlingServices } from './host-event-handler.ts'
import {
  type ClaimedDelivery,
  hasPending,
  updateClaimedRetry,
  updateClaimedUntried,
  updateDeliveryFailedTry,
} from './pending-delivery.store.ts'

/** Each needs a connection of the worker. */
const LANES_AT_ONCE = 2
const CONFLICT_TRIES_MAX = 3
/** serialization_failure, deadlock_detected */
const CONFLICTS = ['40001', '40P01']

const failedTries = defineCounter(
  'shiplock_webhook_failed_tries_total',
  'Tries to apply a webhook that failed. A webhook fails for good after five tries.',
  ['provider'],
)

/** A job works for this long, and queues the next one, so that other shards take turns with it. */
const SLICE_MS = 5000

/**
 * Applies the stored deliveries of a shard. Deliveries of one lane are applied in the order of
 * receipt, some lanes side by side, and those of installations in turn.
 */
export async function applyDeliveries(
  services: HandlingServices,
  { shard }: { shard: number },
  stopping?: AbortSignal,
): Promise<void> {
  const { sql, clock, handlers } = services
  const endsAt = clock.now().getTime() + SLICE_MS
  const isOver = () => clock.now().getTime() >= endsAt
  const hasMore = () => hasPending(sql, shard, clock.now())
  await runDrainAlone(sql, {
    key: `deliveries ${shard}`,
    drain: () => drain({ services, handlers, shard }, isOver, stopping),
    hasMore: async () => !isOver() && (await hasMore()),
  })
  if (isOver() && (await hasMore())) await enqueue(sql, applyShard, { shard })
}

async function drain(context: ApplyContext, isOver: () => boolean, stopping?: AbortSignal): Promise<void> {
  const next = async () =>
    (await tryUntried(context, stopping)) || (await RETRIES.take(() => retryNext(context, stopping)))
  while ((await next()) && !isOver()) {}
}

/** Applies the next deliveries that were not tried before. Returns whether there were any. */
async function tryUntried(context: ApplyContext, stopping?: AbortSignal): Promise<boolean> {
  const claimed = await updateClaimedUntried(context.services.sql, context.shard, context.services.clock.now())
  const lanes = Map.groupBy(claimed, ({ lane }) => lane)
  await runConcurrently(lanes.values(), LANES_AT_ONCE, async (deliveries) => {
    for (const delivery of deliveries) {
      stopping?.throwIfAborted()
      await tryDelivery(context, delivery)
    }
  })
  return claimed.length > 0
}

/**
 * Applies the next delivery that was tried before. A process takes these one by one, also those of
 * several shards: a delivery that ends the process then costs no other one its remaining tries.
 */
async function retryNext(context: ApplyContext, stopping?: AbortSignal): Promise<boolean> {
  stopping?.throwIfAborted()
  const delivery = await updateClaimedRetry(context.services.sql, context.shard, context.services.clock.now())
  if (delivery) await tryDelivery(context, delivery)
  return delivery !== null
}

/** Lets one caller work at a time, in the order of the calls. */
class Turns {
  #last: Promise<unknown> = Promise.resolve()

  take<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#last.then(work)
    this.#last = turn.catch(() => {})
    return turn
  }
}

const RETRIES = new Turns()

/** Throws only if the database cannot be reached: the job is then tried again. */
async function tryDelivery(context: ApplyContext, delivery: ClaimedDelivery): Promise<void> {
  const { sql, clock, log } = context.services
  if (delivery.attempts > ATTEMPTS_MAX) {
    const error = `The process ended ${ATTEMPTS_MAX} times while it applied this delivery`
    return updateDeliveryFailedTry(sql, delivery, error, clock.now())
  }
  try {
    await applyUnlessInConflict(context, delivery)
  } catch (error) {
    if (isUnreachable(error)) throw error
    failedTries.inc({ provider: delivery.provider })
    log.warn({ err: error, provider: delivery.provider, delivery: delivery.id }, 'Could not apply a delivery')
    await updateDeliveryFailedTry(sql, delivery, (error as Error).message.slice(0, 500), clock.now())
  }
}

/** Repeats a transaction at once that PostgreSQL ended because of another one. */
async function applyUnlessInConflict(context: ApplyContext, delivery: ClaimedDelivery): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await applyDelivery(context, delivery)
    } catch (error) {
      if (tries === CONFLICT_TRIES_MAX || !CONFLICTS.includes(getSqlState(error) ?? '')) throw error
    }
  }
}
