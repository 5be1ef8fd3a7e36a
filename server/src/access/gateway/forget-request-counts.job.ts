import { DAY_MS } from '../../platform/clock.ts'
import { defineScheduledJob } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { deleteOldWindows } from './request-counts.store.ts'

/** Removes the counts of callers that have sent nothing for a day. Runs every night. */
export const forgetRequestCounts = defineScheduledJob<Services>('access.forget-request-counts', {
  schedule: '41 3 * * *',
  run: ({ sql, clock }) => deleteOldWindows(sql, new Date(clock.now().getTime() - DAY_MS)),
})
