import { readRun } from '../../ci/runs/run.store.ts'
import type { RunFinished } from '../../ci/runs/run-finished.event.ts'
import { endedBadly, type RunStatus } from '../../ci/runs/run-status.ts'
import type { Tx } from '../../platform/db/sql.ts'
import type { Services } from '../../services.ts'
import type { DeploymentStatus } from '../deployment.schema.ts'
import { findUnfinished, lockDeployment, moveDeployment } from '../deployment-state.store.ts'
import { endWaiting } from '../end-waiting.ts'
import { runEnded } from '../outcome.ts'

/** Where a deployment that was let out ends with its run. */
const ENDS: Partial<Record<RunStatus, DeploymentStatus>> = {
  success: 'success',
  failure: 'failure',
  timed_out: 'failure',
  cancelled: 'cancelled',
  skipped: 'cancelled',
}

/**
 * What the end of an attempt does to its deployments: one that was let out ends as the attempt did; one that still waits
 * is cancelled where the attempt ended badly, and goes on waiting where it ended well (decisions §9). May be repeated.
 */
export async function followRun({ sql, clock }: Services, event: RunFinished): Promise<void> {
  for (const id of await findUnfinished(sql, event.org_id, event.run_id, event.attempt)) {
    await sql.begin((tx) => followOne(tx, event, id, clock.now()))
  }
}

async function followOne(tx: Tx, event: RunFinished, id: string, now: Date) {
  const { org_id, status } = event
  if (endedBadly(status)) await endWaiting(tx, org_id, id, runEnded(status), now)
  const state = await lockDeployment(tx, org_id, id)
  const end = ENDS[status]
  if (!end || (state?.status !== 'approved' && state?.status !== 'in_progress')) return
  const { completed_at } = await readRun(tx, event, now)
  await moveDeployment(tx, org_id, id, end, end === 'success' ? completed_at : null, now)
}
