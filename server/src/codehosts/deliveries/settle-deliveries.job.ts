import { enqueue, type ScheduledJob } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { deleteOldDeliveries, expirePayloads } from './delivery.store.ts'
import { applyShard } from './delivery.ts'
import { listDueShards } from './pending-delivery.store.ts'

/**
 * Every minute: queues the deliveries whose pause after a failed try is over, and those whose job
 * was given up.
 */
export const resumeDeliveries: ScheduledJob<Services> = {
  name: 'codehosts.resume-deliveries',
  schedule: '* * * * *',
  async run({ sql, clock }): Promise<void> {
    for (const shard of await listDueShards(sql, clock.now())) await enqueue(sql, applyShard, { shard })
  },
}

/**
 * Every hour: deletes payloads 14 days after they were applied, and deliveries after 90 days. A
 * failed or waiting delivery keeps its payload until then.
 */
export const expireDeliveries: ScheduledJob<Services> = {
  name: 'codehosts.expire-deliveries',
  schedule: '17 * * * *',
  async run({ sql, clock }, _payload, stopping): Promise<void> {
    for (const remove of [expirePayloads, deleteOldDeliveries])
      while (await remove(sql, clock.now())) stopping?.throwIfAborted()
  },
}
