import { DAY_MS } from '../../platform/clock.ts'
import { defineScheduledJob } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { deleteUnfinished } from './artifact-removal.store.ts'

/**
 * Runs hourly: deletes artifacts that were not completed within a day after their slot closed, and
 * their objects.
 */
export const forgetUnfinishedArtifacts = defineScheduledJob<Services>('ci.forget-unfinished-artifacts', {
  schedule: '23 * * * *',
  async run({ sql, clock }): Promise<void> {
    const putUntilMax = new Date(clock.now().getTime() - DAY_MS)
    let deleted: number
    do {
      deleted = await sql.begin((tx) => deleteUnfinished(tx, putUntilMax))
    } while (deleted > 0)
  },
})
