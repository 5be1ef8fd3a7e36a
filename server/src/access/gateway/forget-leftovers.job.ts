import { DAY_MS } from '../../platform/clock.ts'
import { defineScheduledJob } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { deleteOldAttempts, deleteOldUnstatedProxies, deleteOldWindows } from '../rate-limit.store.ts'
import { deleteUnconfirmedTotp } from '../sign-in/account.store.ts'
import { deleteExpiredChallenges } from '../sign-in/passkey.store.ts'
import { deleteOldKnownBrowsers, deleteOldSessions } from '../sign-in/session.store.ts'
import { BROWSER_MS_MAX } from '../sign-in/session.ts'

/** Removes the counts of callers that have sent nothing for a day. Runs every night. */
export const forgetRequestCounts = defineScheduledJob<Services>('access.forget-request-counts', {
  schedule: '41 3 * * *',
  run: ({ sql, clock }) => deleteOldWindows(sql, new Date(clock.now().getTime() - DAY_MS)),
})

const KEPT_MS = 30 * DAY_MS

/** Removes what sign-ins leave behind. Runs every hour. */
export const forgetSignIns = defineScheduledJob<Services>('access.forget-sign-ins', {
  schedule: '23 * * * *',
  async run({ sql, clock }) {
    const now = clock.now()
    const yesterday = new Date(now.getTime() - DAY_MS)
    const monthAgo = new Date(now.getTime() - KEPT_MS)
    await deleteExpiredChallenges(sql, now)
    await deleteOldAttempts(sql, yesterday, monthAgo)
    await deleteOldKnownBrowsers(sql, new Date(now.getTime() - BROWSER_MS_MAX))
    await deleteOldUnstatedProxies(sql, monthAgo)
    await deleteUnconfirmedTotp(sql, yesterday)
    await deleteOldSessions(sql, monthAgo)
  },
})
