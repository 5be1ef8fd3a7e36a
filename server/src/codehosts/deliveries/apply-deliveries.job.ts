import { lazy } from '../../platform/lazy.ts'
import { job } from '../../platform/queue/job.ts'
import { integer, object } from '../../platform/queue/payload.ts'

/** Applies the stored deliveries of a shard. */
export const applyShard = job('codehosts.apply-deliveries', {
  payload: object({ shard: integer }),
  attemptsMax: 25,
  once: ({ shard }) => `${shard}`,
  run: lazy(async () => (await import('./apply-deliveries.ts')).applyDeliveries),
})
