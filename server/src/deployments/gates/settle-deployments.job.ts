import { MINUTE_MS } from '../../platform/clock.ts'
import { defineScheduledJob, enqueue } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { decideByPolicyJob } from '../decisions/decide-by-policy.ts'
import { settleWaiting } from '../decisions/decide-deployment.ts'
import { lockDeployment, updateMissingSuccess } from '../deployment-state.store.ts'
import { createExpiredOutcome } from '../deployment-state.ts'
import { settleHostDeployment } from '../host/settle-host-deployment.ts'
import { listWithoutUnit } from '../live-deployment.store.ts'
import { refreshLive } from '../refresh-live.ts'
import { listOverdue, listUnevaluated } from '../waiting-deployment.store.ts'
import { assignGates } from './cover-deployment.ts'
import { deletePolls } from './opened-gate.store.ts'

/**
 * Longer than any evaluation, which waits a minute for its turn: a gate that is not evaluated by
 * then was opened by a process that stopped.
 */
const EVALUATION_LOST_MS = 2 * MINUTE_MS
const POLLS_KEPT_MS = 10 * MINUTE_MS

/**
 * Every minute: expires overdue deployments, evaluates those whose evaluation was interrupted or
 * whose earlier policies are no longer asked, and covers those whose gate was configured while they
 * were created.
 */
export const settleDeployments = defineScheduledJob<Services>('deployments.settle', {
  schedule: '* * * * *',
  async run(services): Promise<void> {
    const { sql, clock } = services
    await expireOverdue(services)
    await assignGates(services, { org_id: null })
    const now = clock.now()
    for (const { org_id, id } of await listUnevaluated(sql, { createdBefore: before(now, EVALUATION_LOST_MS), now }))
      await enqueue(sql, decideByPolicyJob, { org_id, id })
    await deletePolls(sql, before(clock.now(), POLLS_KEPT_MS))
    await fillLive(services)
  },
})

/**
 * Each pass settles all that it finds, because an overdue deployment can no longer be answered. So
 * the loop ends.
 */
async function expireOverdue(services: Services): Promise<void> {
  const { sql, clock } = services
  for (;;) {
    const overdue = await listOverdue(sql, clock.now())
    if (overdue.length === 0) return
    for (const { timeout_minutes, ...deployment } of overdue)
      await sql.begin((tx) => settleWaiting(services, tx, deployment, createExpiredOutcome(timeout_minutes)))
  }
}

const FILLED_AT_ONCE = 1000

/**
 * Finds where deployments run that have succeeded and were stored before that was kept, or by a
 * program of the version before. The newest come first, because they are the ones that run.
 */
async function fillLive({ sql, clock }: Services): Promise<void> {
  for (const key of await listWithoutUnit(sql, FILLED_AT_ONCE))
    await sql.begin(async (tx) => {
      if ((await settleHostDeployment(tx, key, clock.now())) !== null) return
      if ((await lockDeployment(tx, key)) === null) return
      await updateMissingSuccess(tx, key)
      await refreshLive(tx, key)
    })
}

function before(now: Date, ms: number): Date {
  return new Date(now.getTime() - ms)
}
