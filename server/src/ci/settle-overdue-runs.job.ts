import type { ScheduledJob } from '../platform/queue/job.ts'
import type { Services } from '../services.ts'
import { settleOverdueAttempts } from './run.store.ts'

/** Runs every minute: open attempts past their deadline become `timed_out` (decisions §5). Reads never wait for it. */
export const settleOverdueRuns: ScheduledJob<Services> = {
  name: 'ci.settle-overdue-runs',
  schedule: '* * * * *',
  async run({ sql, clock }): Promise<void> {
    let settled: number
    do {
      settled = await settleOverdueAttempts(sql, clock.now())
    } while (settled > 0)
  },
}
