import { defineScheduledJob, enqueue } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { applyShard } from './apply-deliveries.job.ts'
import { listDueShards } from './pending-delivery.store.ts'

/**
 * Every minute: queues the deliveries whose pause after a failed try is over, and those whose job
 * was given up.
 */
export const resumeDeliveries = defineScheduledJob<Services>('codehosts.resume-deliveries', {
  schedule: '* * * * *',
  async run({ sql, clock }): Promise<void> {
    for (const shard of await listDueShards(sql, clock.now())) await enqueue(sql, applyShard, { shard })
  },
})
