import type { ScheduledJob } from '../platform/queue/job.ts'
import type { Services } from '../services.ts'
import { settleEarlierAttempts, settleNewestAttempts } from './attempt-deadline.store.ts'

/** Runs every minute: open attempts past their deadline become `timed_out` (decisions §5). Reads never wait for it. */
export const settleOverdueRuns: ScheduledJob<Services> = {
  name: 'ci.settle-overdue-runs',
  schedule: '* * * * *',
  async run({ sql, clock }): Promise<void> {
    let settled: number
    do {
      const now = clock.now()
      settled = (await settleNewestAttempts(sql, now)) + (await settleEarlierAttempts(sql, now))
    } while (settled > 0)
  },
}
