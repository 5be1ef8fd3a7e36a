import { DAY_MS, MINUTE_MS } from '../../platform/clock.ts'
import { runAlone } from '../../platform/db/advisory-lock.ts'
import { checkSql } from '../../platform/db/sql.ts'
import { defineJob, enqueue, formatLoneParty } from '../../platform/queue/job.ts'
import { definePayload, text } from '../../platform/queue/payload.ts'
import type { Services } from '../../services.ts'
import type { Provider } from '../catalogue.ts'
import { type FailedDelivery, type HostRedeliveries, HostRefusal } from '../code-host.ts'
import { deleteRedeliveries, findLastCheck, listRequested, upsertCheck, upsertRedelivery } from './redelivery.store.ts'
import { SyncSlice } from './sync-run.ts'

/** How long hosts can repeat a delivery. */
const KEPT_MS = 3 * DAY_MS
/** A delivery that was under way at the last check may have failed since. */
const OVERLAP_MS = 10 * MINUTE_MS
const ATTEMPTS_MAX = 5
/** How long a check waits for another one. */
const WHILE_CHECKED_MS = 10_000

/**
 * Asks the host to deliver again what it could not deliver since the last check. Every
 * synchronization queues it, and none waits for it: hosts accept about one such request a second,
 * and the lists show what the deliveries reported. All connections of the host share the check.
 */
export const redeliverFailedJob = defineJob<Services, { provider: Provider }>('codehosts.redeliver-failed', {
  waitsFor: ({ provider }) => formatLoneParty(provider),
  class: 'bulk',
  payload: definePayload({ provider: text }),
  attemptsMax: ATTEMPTS_MAX,
  once: ({ provider }) => provider,
  async run(services, { provider }, stopping) {
    const host = (await services.codeHosts.get(provider))?.redeliveries
    if (!host) return
    const slice = new SyncSlice(services.clock, stopping)
    const ran = await runAlone(services.sql, `redeliver ${provider}`, () =>
      tolerate(services, slice, () => redeliverFailed({ services, host, provider, slice })),
    )
    slice.throwIfStopping()
    // The check that is under way does not see what has failed since it listed the deliveries.
    if (!ran) await enqueue(services.sql, redeliverFailedJob, { provider }, WHILE_CHECKED_MS)
  },
})

type Redelivering = { services: Services; host: HostRedeliveries; provider: Provider; slice: SyncSlice }

/**
 * A host that does not list or repeat deliveries is no failure. The next synchronization tries
 * again.
 */
async function tolerate({ sql, log }: Services, slice: SyncSlice, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    slice.throwIfStopping()
    await checkSql(sql)
    log.warn({ err: error }, 'Could not ask for failed deliveries')
  }
}

/** Repeats each failed try once. Queues another job when the time of this one is over. */
async function redeliverFailed(redelivering: Redelivering): Promise<void> {
  const { services, host, provider, slice } = redelivering
  const { sql } = services
  const now = services.clock.now()
  const lastCheck = await findLastCheck(sql, provider)
  const since = new Date(Math.max(now.getTime() - KEPT_MS, (lastCheck?.getTime() ?? 0) - OVERLAP_MS))
  const failed = newestTries(await host.listFailed(since))
  const ids = failed.map(({ id }) => id)
  const requested = await listRequested(sql, provider, ids)
  for (const delivery of failed.filter(({ id }) => !requested.has(id))) {
    if (slice.isOver) return enqueue(sql, redeliverFailedJob, { provider })
    await redeliver(redelivering, delivery, now)
  }
  await upsertCheck(sql, provider, now)
  await deleteRedeliveries(sql, provider, new Date(now.getTime() - 2 * KEPT_MS))
}

/** The newest failed try of each delivery. The host lists the newest first. */
function newestTries(failed: readonly FailedDelivery[]): FailedDelivery[] {
  return [...new Map(failed.toReversed().map((delivery) => [delivery.delivery_id, delivery])).values()]
}

/** A request that is lost after the host has taken it is sent again: deliveries can be repeated. */
async function redeliver({ services, host, provider }: Redelivering, failed: FailedDelivery, now: Date): Promise<void> {
  try {
    await host.repeat(failed.id)
  } catch (error) {
    if (!(error instanceof HostRefusal)) throw error
    services.log.warn({ delivery_id: failed.delivery_id, status: error.status }, 'The host does not repeat a delivery')
  }
  await upsertRedelivery(services.sql, provider, failed, now)
}
