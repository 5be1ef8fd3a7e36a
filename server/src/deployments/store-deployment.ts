import { branchName } from '../repositories/branch-name.ts'
import type { StoredRun } from '../ci/runs/run.store.ts'
import type { Tx } from '../platform/db/sql.ts'
import { endWaiting } from './end-waiting.ts'
import { ANSWER_WITHIN_MS } from './gate-state.ts'
import {
  insertDeployment,
  linkNeighbours,
  type Neighbours,
  type NewDeployment,
  type OpenedGateKey,
} from './new-deployment.store.ts'
import { SUPERSEDED } from './outcome.ts'

type Opening = { id: string; key: OpenedGateKey; run: StoredRun; neighbours: Neighbours }

/**
 * Stores the deployment that a gate is opened for, with the facts of its run, and ties it to those of the run's other
 * attempts. The one before it has nothing to wait for any more.
 */
export async function storeDeployment(tx: Tx, orgId: string, opening: Opening, now: Date): Promise<void> {
  const { id, neighbours } = opening
  await insertDeployment(tx, orgId, toDeployment(opening, now))
  if (neighbours.previous ?? neighbours.next) await linkNeighbours(tx, orgId, id, neighbours, now)
  if (neighbours.previous) await endWaiting(tx, orgId, neighbours.previous, SUPERSEDED, now)
}

function toDeployment({ id, key, run, neighbours }: Opening, now: Date): NewDeployment {
  return {
    ...namesOf(run.repository),
    id,
    environment: key.environment,
    workflow_name: run.pipeline_name,
    pipeline_run_id: key.run_id,
    job_id: key.job || null,
    attempt: key.attempt,
    previous_attempt_id: neighbours.previous,
    superseded_by_id: neighbours.next,
    branch: branchName(run.ref),
    commit_sha: run.commit_sha,
    author: run.actor,
    html_url: run.url,
    answer_until: new Date(now.getTime() + ANSWER_WITHIN_MS),
    created_at: now,
  }
}

/** `host/owner/name` → the names that a deployment shows. */
function namesOf(repository: string) {
  const fullName = repository.slice(repository.indexOf('/') + 1)
  return { repository: fullName.slice(fullName.lastIndexOf('/') + 1), repository_full_name: fullName }
}
