import { DAY_MS, MINUTE_MS } from '../platform/clock.ts'
import { defineJob, defineScheduledJob, enqueue } from '../platform/queue/job.ts'
import { definePayload } from '../platform/queue/payload.ts'
import type { Services } from '../services.ts'
import { removeExpired } from './remove-expired.ts'
import { findState } from './retention.store.ts'

/** A job works for this long, and queues the next one, so that other jobs take turns with it. */
const SLICE_MS = 5000
const START_DELAY_MS = 5 * MINUTE_MS

/** Works on the removal of what has expired. It is safe to queue at any time. */
export const removeExpiredJob = defineJob('retention.remove-expired', {
  class: 'bulk',
  waitsFor: () => 'retention',
  payload: definePayload({}),
  attemptsMax: 10,
  priority: 10,
  once: () => 'all',
  async run(services: Services, _payload, stopping): Promise<void> {
    const result = await removeExpired(services, { sliceMs: SLICE_MS, ...(stopping && { stopping }) })
    if (result === 'unfinished') await enqueue(services.sql, removeExpiredJob, {})
  },
})

/** Starts the removal once a day. */
export const removeExpiredDaily = defineScheduledJob<Services>('retention.start', {
  schedule: '37 2 * * *',
  run: ({ sql }) => enqueue(sql, removeExpiredJob, {}),
})

/**
 * Called when a worker starts: if the last run ended more than a day ago, or has not ended, the
 * removal starts in five minutes, when the start itself is over.
 */
export async function removeAfterRest({ sql, clock }: Pick<Services, 'sql' | 'clock'>): Promise<void> {
  const state = await findState(sql)
  const restedMs = clock.now().getTime() - (state?.finished_at?.getTime() ?? 0)
  // After a clock was set back, the time of the last run is in the future and tells nothing.
  if (state?.is_finished && restedMs >= 0 && restedMs <= DAY_MS) return
  await enqueue(sql, removeExpiredJob, {}, START_DELAY_MS)
}
