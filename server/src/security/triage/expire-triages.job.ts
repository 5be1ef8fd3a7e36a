import { SYSTEM } from '../../audit/audit.store.ts'
import { defineScheduledJob } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { lockTriaged } from '../writing/grouping.store.ts'
import { listExpired, listTriagedRepositories, lockTriage } from '../writing/triage.store.ts'
import { closeTriage } from './end-triage.ts'

const TRIAGES_AT_ONCE = 1000

/** Runs every minute and ends the dismissals whose time is over. */
export const expireTriagesJob = defineScheduledJob<Services>('security.expire-triages', {
  schedule: '* * * * *',
  run: expireTriages,
})

/** Ends each dismissal in its own transaction. Safe to run twice at the same time. */
export async function expireTriages({ sql, clock }: Pick<Services, 'sql' | 'clock'>): Promise<void> {
  const now = clock.now()
  for (const { org_id, id } of await listExpired(sql, now, TRIAGES_AT_ONCE))
    await sql.begin(async (tx) => {
      await lockTriaged(tx, org_id, await listTriagedRepositories(tx, org_id, id))
      const triage = await lockTriage(tx, org_id, id)
      if (triage?.ended_as !== null) return
      await closeTriage(tx, org_id, { id, as: 'expired', principal: SYSTEM, at: now })
    })
}
