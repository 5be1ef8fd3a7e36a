import { SYSTEM } from '../../audit/audit.store.ts'
import { publish } from '../../platform/queue/event.ts'
import { defineScheduledJob } from '../../platform/queue/job.ts'
import { publishUpdates, update } from '../../platform/queue/update.ts'
import type { Services } from '../../services.ts'
import { runFinished } from './run.events.ts'
import { updateEarlierOverdueAttempts, updateNewestOverdueAttempts } from './run-attempt.store.ts'

/**
 * Runs every minute: settles open attempts past their deadline (decisions §5). Reads do not depend
 * on it. One that continued a run is no news: its run is again what it was, and moves no deployment
 * (ci-evidence §3).
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
      settled.map(({ is_continued, ...attempt }) =>
        is_continued
          ? publishUpdates(tx, attempt.org_id, [update('run', attempt.run_id)])
          : publish(tx, runFinished, { ...attempt, status: 'timed_out' }, { actor: SYSTEM }),
      ),
    )
    return settled.length
  })
}
