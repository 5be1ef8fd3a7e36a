import { DAY_MS } from '../../platform/clock.ts'
import type { ScheduledJob } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { forgetUnfinished } from './artifact.store.ts'

/** Runs hourly: slots that nobody completed within a day of their end go, with what was PUT for them. */
export const forgetUnfinishedArtifacts: ScheduledJob<Services> = {
  name: 'ci.forget-unfinished-artifacts',
  schedule: '23 * * * *',
  async run({ sql, clock }): Promise<void> {
    const putUntilMax = new Date(clock.now().getTime() - DAY_MS)
    let forgotten: number
    do {
      forgotten = await sql.begin((tx) => forgetUnfinished(tx, putUntilMax))
    } while (forgotten > 0)
  },
}
