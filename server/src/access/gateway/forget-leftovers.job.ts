import { DAY_MS } from '../../platform/clock.ts'
import { defineScheduledJob } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { deleteOldAttempts, deleteOldWindows } from '../rate-limit.store.ts'
import { deleteUnconfirmedTotp } from '../sign-in/account.store.ts'
import { deleteExpiredChallenges } from '../sign-in/passkey.store.ts'
import { deleteOldSessions } from '../sign-in/session.store.ts'

/** Removes the counts of callers that have sent nothing for a day. Runs every night. */
export const forgetRequestCounts = defineScheduledJob<Services>('access.forget-request-counts', {
  schedule: '41 3 * * *',
  run: ({ sql, clock }) => deleteOldWindows(sql, new Date(clock.now().getTime() - DAY_MS)),
})

const SESSIONS_KEPT_MS = 30 * DAY_MS

/** Removes what sign-ins leave behind. Runs every hour. */
export const forgetSignIns = defineScheduledJob<Services>('access.forget-sign-ins', {
  schedule: '23 * * * *',
  async run({ sql, clock }) {
    const now = clock.now()
    const yesterday = new Date(now.getTime() - DAY_MS)
    await deleteExpiredChallenges(sql, now)
    await deleteOldAttempts(sql, yesterday)
    await deleteUnconfirmedTotp(sql, yesterday)
    await deleteOldSessions(sql, new Date(now.getTime() - SESSIONS_KEPT_MS))
  },
})
