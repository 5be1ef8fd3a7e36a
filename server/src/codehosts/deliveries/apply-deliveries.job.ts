import { lazy } from '../../platform/lazy.ts'
import { defineJob } from '../../platform/queue/job.ts'
import { definePayload, integer } from '../../platform/queue/payload.ts'

/** Applies the stored deliveries of a shard. */
export const applyShard = defineJob('codehosts.apply-deliveries', {
  payload: definePayload({ shard: integer }),
  attemptsMax: 25,
  once: ({ shard }) => `${shard}`,
  run: lazy(async () => (await import('./apply-deliveries.ts')).applyDeliveries),
})
