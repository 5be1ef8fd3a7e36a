import { DAY_MS, MINUTE_MS } from '../../platform/clock.ts'
import { type FailedDelivery, HostRefusal } from '../code-host.ts'
import { findLastCheck, findRequested, forgetRedeliveries, noteCheck, noteRedelivery } from './redelivery.store.ts'
import type { SyncRun } from './sync-run.ts'

/** How long hosts can repeat a delivery. */
const KEPT_MS = 3 * DAY_MS
/** A delivery that was under way at the last check may have failed since. */
const OVERLAP_MS = 10 * MINUTE_MS

/**
 * Asks the host to deliver again what it could not deliver since the last check. Each failed try is
 * repeated once. All connections of the host share the check.
 */
export async function redeliverFailed(run: SyncRun): Promise<boolean> {
  const { services, source, host } = run
  const { sql } = services
  const now = services.clock.now()
  const since = firstCheckedAt(await findLastCheck(sql, source.provider), now)
  const failed = newestTries(await host.listFailedDeliveries(since))
  const ids = failed.map(({ id }) => id)
  const requested = await findRequested(sql, source.provider, ids)
  for (const delivery of failed.filter(({ id }) => !requested.has(id))) {
    if (run.slice.isOver) return false
    await redeliver(run, delivery, now)
  }
  await noteCheck(sql, source.provider, now)
  await forgetRedeliveries(sql, source.provider, new Date(now.getTime() - 2 * KEPT_MS))
  return true
}

/** The newest failed try of each delivery. The host lists the newest first. */
function newestTries(failed: readonly FailedDelivery[]): FailedDelivery[] {
  return [...new Map(failed.toReversed().map((delivery) => [delivery.delivery_id, delivery])).values()]
}

function firstCheckedAt(lastCheck: Date | null, now: Date): Date {
  return new Date(Math.max(now.getTime() - KEPT_MS, (lastCheck?.getTime() ?? 0) - OVERLAP_MS))
}

/** A request that is lost after the host has taken it is sent again: deliveries can be repeated. */
async function redeliver({ services, source, host, slice }: SyncRun, failed: FailedDelivery, now: Date): Promise<void> {
  try {
    await host.redeliver(failed.id)
  } catch (error) {
    if (!(error instanceof HostRefusal)) throw error
    services.log.warn({ delivery_id: failed.delivery_id, status: error.status }, 'The host does not repeat a delivery')
  }
  await noteRedelivery(services.sql, source.provider, failed, now)
  slice.progressed = true
}
