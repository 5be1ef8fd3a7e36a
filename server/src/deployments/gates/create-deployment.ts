import type { StoredRun } from '../../ci/runs/run.store.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { parseBranchName } from '../../repositories/branch-name.ts'
import { splitAddress } from '../../repositories/repository-identity.ts'
import type { Services } from '../../services.ts'
import { settleWaiting } from '../decisions/decide-deployment.ts'
import { type DeploymentKey, SUPERSEDED } from '../deployment-state.ts'
import {
  insertDeployment,
  type NearestAttempts,
  type NewDeployment,
  type NewStanding,
  updateNearestAttempts,
} from './new-deployment.store.ts'

type DeploymentRequest = DeploymentKey & {
  environment: string
  job: string | null
  run: StoredRun
  attempts: NearestAttempts
  standing: NewStanding
}

/**
 * Creates the deployment that a gate is opened for, and links it to the deployments of the run's
 * other attempts. The deployment of the previous attempt is cancelled if it still waits.
 */
export async function createDeployment(
  services: Services,
  tx: Tx,
  request: DeploymentRequest,
  now: Date,
): Promise<void> {
  const { org_id, attempts } = request
  await insertDeployment(tx, toDeployment(request, now))
  if (attempts.previous ?? attempts.next) await updateNearestAttempts(tx, request, attempts, now)
  if (attempts.previous) await settleWaiting(services, tx, { org_id, id: attempts.previous }, SUPERSEDED)
}

function toDeployment(request: DeploymentRequest, now: Date): NewDeployment {
  const { org_id, id, environment, job, run, attempts, standing } = request
  return {
    ...repositoryNames(run.repository),
    org_id,
    id,
    environment,
    workflow_name: run.pipeline_name,
    pipeline_run_id: run.id,
    job_id: job,
    attempt: run.attempt,
    previous_attempt_id: attempts.previous,
    superseded_by_id: attempts.next,
    branch: parseBranchName(run.ref),
    commit_sha: run.commit_sha,
    author: run.actor,
    html_url: run.url,
    standing,
    created_at: now,
  }
}

/** Splits `host/owner/name` into the deployment's `repository` and `repository_full_name`. */
function repositoryNames(repository: string) {
  const { name: fullName } = splitAddress(repository)
  return { repository: fullName.slice(fullName.lastIndexOf('/') + 1), repository_full_name: fullName }
}
