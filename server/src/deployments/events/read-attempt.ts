import type { Services } from '../../services.ts'
import type { DeploymentKey } from '../deployment-state.ts'
import { updateAttempt } from '../host/host-news.store.ts'
import { openDeployment, saveFacts } from './read-reviews.ts'

const ATTEMPTS_READ_MAX = 10

/**
 * Finds the attempt whose jobs contain the job that deploys, from the newest one down. An attempt
 * that is not found stays unknown, and counts as the first.
 */
export async function readAttempt(
  services: Services,
  { job_id, newest, ...key }: DeploymentKey & { job_id: string; newest: number },
): Promise<void> {
  const found = await openDeployment(services, key)
  if (found === null) return
  const { client, deployment, runId } = found
  const oldest = Math.max(1, newest - ATTEMPTS_READ_MAX + 1)
  for (let attempt = newest; attempt >= oldest; attempt -= 1) {
    const jobs = await client.listJobs(deployment.repository, runId, attempt)
    if (jobs.some(({ id }) => id === job_id))
      return saveFacts(services, key, deployment, (tx) => updateAttempt(tx, key, attempt))
  }
}
