import type { Tx } from '../../platform/db/sql.ts'
import { enqueue } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import type { DeploymentKey } from '../deployment-state.ts'
import { settleAndCover } from '../gates/cover-deployment.ts'
import { isMissingReviews } from '../host/bypass.ts'
import { getEnvironmentKey, type HostFacts } from '../host/host-facts.ts'
import { findEnvironmentRules, findNewestAttempt, updateDeploymentRules } from '../host/host-news.store.ts'
import { listAffected, listOtherAttempts } from '../host/lineage.store.ts'
import { type Settled, settleHostDeployment } from '../host/settle-host-deployment.ts'
import { computeStanding } from '../host/standing.ts'
import { readAttemptJob, readEnvironmentJob, readReviewsJob } from './host-reads.job.ts'

/**
 * Derives the state of a deployment after one of its facts has arrived, and that of the deployments
 * that refer to it. Queues the reads of what the host has not said yet. Its environment is locked.
 */
export async function followDeployment(services: Services, tx: Tx, key: DeploymentKey): Promise<void> {
  const settled = await settleAndCover(services, tx, key)
  if (settled === null) return
  for (const other of await listReferring(tx, settled)) await settleAndCover(services, tx, other)
  await readMissing(services, tx, settled.facts)
}

/** The deployments whose state follows from a derived column of this one that has changed. */
async function listReferring(tx: Tx, { facts, before, derived }: Settled): Promise<DeploymentKey[]> {
  const { deployment } = facts
  const isLinked = facts.previous_attempt_id !== null || facts.next_attempt_id !== null
  const hasNewLineage =
    before.succeeded_at?.getTime() !== derived.succeeded_at?.getTime() ||
    before.run_created_at?.getTime() !== derived.run_created_at?.getTime() ||
    before.workflow_path !== derived.workflow_path
  return [
    ...(isLinked ? await listOtherAttempts(tx, deployment) : []),
    ...(derived.succeeded_at !== null && hasNewLineage ? await listAffected(tx, deployment) : []),
  ]
}

/** A run with one attempt needs no request. */
async function readUnknownAttempt(tx: Tx, { deployment, statuses }: HostFacts): Promise<void> {
  const { org_id, id, host_run_id, host_attempt } = deployment
  const job_id = statuses.findLast((status) => status.job_id !== null)?.job_id ?? null
  if (host_attempt !== null || host_run_id === null || job_id === null) return
  const newest = await findNewestAttempt(tx, deployment)
  if (newest > 1) await enqueue(tx, readAttemptJob, { org_id, id, job_id, newest })
}

/** The rules of an environment are good for other deployments for this time. */
const RULES_FRESH_MS = 60 * 60_000

async function readMissing({ clock }: Services, tx: Tx, facts: HostFacts): Promise<void> {
  const { deployment } = facts
  const { org_id, id, host_run_id, environment_rules: rules } = deployment
  await readUnknownAttempt(tx, facts)
  if (isMissingReviews(facts, computeStanding(facts))) await enqueue(tx, readReviewsJob, { org_id, id })
  if (host_run_id === null || rules?.is_known) return
  const environment = getEnvironmentKey(deployment)
  const fresh = await findEnvironmentRules(tx, environment, new Date(clock.now().getTime() - RULES_FRESH_MS))
  if (fresh === null) return enqueue(tx, readEnvironmentJob, environment)
  await updateDeploymentRules(tx, deployment, fresh)
  await settleHostDeployment(tx, deployment, clock.now())
}
