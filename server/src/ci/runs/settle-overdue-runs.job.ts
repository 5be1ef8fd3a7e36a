import { SYSTEM } from '../../audit/audit.store.ts'
import { publish } from '../../platform/queue/event.ts'
import { defineScheduledJob } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { runFinished } from './run.events.ts'
import { updateEarlierOverdueAttempts, updateNewestOverdueAttempts } from './run-attempt.store.ts'

/**
 * Runs every minute: sets open attempts past their deadline to `timed_out` (decisions §5). Reads do
 * not depend on it.
 */
export const settleOverdueRuns = defineScheduledJob<Services>('ci.settle-overdue-runs', {
  schedule: '* * * * *',
  async run(services): Promise<void> {
    while ((await settleSome(services)) > 0);
  },
})

async function settleSome({ sql, clock }: Services): Promise<number> {
  const now = clock.now()
  return sql.begin(async (tx) => {
    const settled = [...(await updateNewestOverdueAttempts(tx, now)), ...(await updateEarlierOverdueAttempts(tx, now))]
    await Promise.all(
      settled.map((attempt) => publish(tx, runFinished, { ...attempt, status: 'timed_out' }, { actor: SYSTEM })),
    )
    return settled.length
  })
}
