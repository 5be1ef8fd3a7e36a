import type { RunFinished } from '../../ci/runs/run.events.ts'
import { requireStoredRun } from '../../ci/runs/run.store.ts'
import { findAttempt } from '../../ci/runs/run-attempt.store.ts'
import { hasEndedBadly, type RunStatus } from '../../ci/runs/run-status.ts'
import type { Tx } from '../../platform/db/sql.ts'
import type { Services } from '../../services.ts'
import type { DeploymentStatus } from '../deployment.schema.ts'
import { listUnfinished, lockDeployment, updateDeploymentStatus } from '../deployment-state.store.ts'
import { type DeploymentKey, type DeploymentState, runEnded } from '../deployment-state.ts'
import { settleWaiting } from './decide-deployment.ts'

/** The final status of an approved deployment, by the final status of its run. */
const FINAL_STATUS: Partial<Record<RunStatus, DeploymentStatus>> = {
  success: 'success',
  failure: 'failure',
  timed_out: 'failure',
  cancelled: 'cancelled',
  skipped: 'cancelled',
}

/**
 * Updates the deployments of opened gates when their attempt has finished. An approved deployment
 * takes the status of the attempt. A waiting deployment is cancelled if the attempt ended without
 * success, and keeps waiting if it succeeded (decisions §9). Safe to repeat.
 */
export async function followRun(services: Services, event: RunFinished): Promise<void> {
  const { sql } = services
  for (const deployment of await listUnfinished(sql, event.org_id, event.run_id, event.attempt))
    await sql.begin((tx) => followOne(services, tx, event, deployment))
}

async function followOne(services: Services, tx: Tx, event: RunFinished, deployment: DeploymentKey) {
  const { run_id, attempt, status } = event
  const now = services.clock.now()
  if (hasEndedBadly(status)) await settleWaiting(services, tx, deployment, runEnded(status))
  const state = await lockDeployment(tx, deployment)
  const finalStatus = FINAL_STATUS[status]
  if (!finalStatus || (state?.status !== 'approved' && state?.status !== 'in_progress')) return
  const { completed_at } = await requireStoredRun(tx, { org_id: deployment.org_id, run_id, attempt }, now)
  const deployedAt = finalStatus === 'success' ? completed_at : null
  await updateDeploymentStatus(tx, deployment, { status: finalStatus, deployedAt }, now)
}

/**
 * True if the deployment's attempt ended without success. The deployment can still be waiting,
 * because `followRun` runs after the attempt has ended.
 */
export async function hasRunEndedBadly(tx: Tx, state: DeploymentState, now: Date): Promise<boolean> {
  const { org_id, pipeline_run_id: run_id, attempt } = state
  if (run_id === null) return false
  const found = await findAttempt(tx, { org_id, run_id, attempt }, now)
  return found !== null && hasEndedBadly(found.status)
}
