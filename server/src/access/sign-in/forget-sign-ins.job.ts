import { DAY_MS } from '../../platform/clock.ts'
import { defineScheduledJob } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { deleteOldSessions } from '../sessions/session-end.store.ts'
import { deleteOldAttempts } from './attempt.store.ts'
import { deleteExpiredChallenges } from './passkey.store.ts'
import { deleteUnconfirmedTotp } from './totp.store.ts'

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
