import { findAttempt } from '../ci/runs/run-attempt.store.ts'
import { endedBadly } from '../ci/runs/run-status.ts'
import type { Tx } from '../platform/db/sql.ts'
import type { DeploymentState } from './deployment-state.ts'

/** True for a run whose end is known but whose gates are not cancelled yet: the event is on its way. */
export async function hasRunEndedBadly(tx: Tx, orgId: string, state: DeploymentState, now: Date): Promise<boolean> {
  if (state.pipeline_run_id === null) return false
  const attempt = await findAttempt(tx, { org_id: orgId, run_id: state.pipeline_run_id, attempt: state.attempt }, now)
  return attempt !== null && endedBadly(attempt.status)
}
