import { MINUTE_MS } from '../../platform/clock.ts'
import type { ScheduledJob } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { findOverdue } from '../deployment-state.store.ts'
import { endWaiting } from '../end-waiting.ts'
import { EXPIRY } from '../outcome.ts'
import { decideByPolicy } from '../policy/decide-by-policy.ts'
import { findUnevaluated } from '../policy/evaluation.store.ts'
import { forgetPolls } from './poll-limit.store.ts'

/** Longer than any evaluation takes: a gate that waits as long without one lost the process that evaluated it. */
const EVALUATION_LOST_MS = MINUTE_MS
const POLLS_KEPT_MS = 10 * MINUTE_MS

/** Runs every minute: what nobody answered in time expires, and gates whose evaluation was lost are evaluated. */
export const settleDeployments: ScheduledJob<Services> = {
  name: 'deployments.settle',
  schedule: '* * * * *',
  async run(services): Promise<void> {
    const { sql, clock } = services
    await expireOverdue(services)
    for (const { org_id, id } of await findUnevaluated(sql, before(clock.now(), EVALUATION_LOST_MS))) {
      await decideByPolicy(services, org_id, id)
    }
    await forgetPolls(sql, before(clock.now(), POLLS_KEPT_MS))
  },
}

/** Nobody can answer one that is overdue, so none of them comes to life between the look and the lock. */
async function expireOverdue({ sql, clock }: Services): Promise<void> {
  for (;;) {
    const overdue = await findOverdue(sql, clock.now())
    if (overdue.length === 0) return
    for (const { org_id, id } of overdue) {
      await sql.begin((tx) => endWaiting(tx, org_id, id, EXPIRY, clock.now()))
    }
  }
}

function before(now: Date, ms: number): Date {
  return new Date(now.getTime() - ms)
}
