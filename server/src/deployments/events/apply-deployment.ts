import type { AddressChange } from '../../ci/runs/run-row.store.ts'
import type { HostEventHandler } from '../../codehosts/deliveries/host-event-handler.ts'
import type { HostDeployment, HostGateRequest } from '../../codehosts/host-deployment.ts'
import type { HostSource } from '../../codehosts/host-event.ts'
import { formatHostRunId } from '../../codehosts/host-run.ts'
import { enqueueRunRead } from '../../codehosts/sync/read-run.job.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { enqueue } from '../../platform/queue/job.ts'
import { findById } from '../../repositories/repository.store.ts'
import { isSameEnvironment, parseBranchName } from '../../repositories/repository-identity.ts'
import type { Services } from '../../services.ts'
import { listAskedGates } from '../asked-gate.store.ts'
import { selectRequired } from '../asked-gate.ts'
import type { DeploymentKey } from '../deployment-state.ts'
import { settleAndCover } from '../gates/cover-deployment.ts'
import {
  type LockedDeployment,
  listHostDeployments,
  updateDeploymentRules,
  updateOpenedNames,
  updateRepositoryName,
  upsertHostDeployment,
} from '../host/host-deployment.store.ts'
import { listAffected, listOtherAttempts, lockEnvironment, lockHostRun } from '../host/host-facts.store.ts'
import { type EnvironmentKey, getEnvironmentKey, type HostFacts } from '../host/host-facts.ts'
import {
  findEnvironmentRules,
  findNewestAttempt,
  hasRun,
  insertStatus,
  upsertGateRequest,
  upsertReview,
  upsertRun,
} from '../host/host-news.store.ts'
import { type Settled, settleHostDeployment } from '../host/settle-host-deployment.ts'
import { computeStanding, isMissingRequest, isMissingReviews } from '../host/standing.ts'
import { readAttemptJob, readEnvironmentJob, readRequestsJob, readReviewsJob } from './host-reads.job.ts'

/** Stores a deployment and derives its state from all facts. */
export const applyDeployment: HostEventHandler<'deployment'> = async (services, tx, source, deployment) => {
  await followDeployment(services, tx, await storeDeployment(services, tx, source, deployment))
}

export const applyDeploymentStatus: HostEventHandler<'deployment_status'> = async (services, tx, source, status) => {
  const key = await storeDeployment(services, tx, source, status.deployment)
  const isNew = await insertStatus(tx, key, status)
  await followDeployment(services, tx, key)
  if (isNew && status.state === 'waiting')
    await enqueue(tx, readEnvironmentJob, toEnvironmentKey(source, status.deployment))
}

/**
 * Our protection rule is asked. A request that names no deployment is for those of its run and
 * environment, which may still be unknown.
 */
export const applyGateRequest: HostEventHandler<'gate_request'> = async (services, tx, source, request) => {
  const { deployment, run, environment } = request
  if (!request.is_rule && !(await isCovered(tx, source, request, services.clock.now()))) return
  if (deployment) {
    const key = await storeDeployment(services, tx, source, { ...deployment, run: deployment.run ?? run })
    await upsertGateRequest(tx, source, request)
    return followDeployment(services, tx, key)
  }
  if (run === null) return
  const runId = formatHostRunId(source.provider, run.id)
  await lockHostRun(tx, source.org_id, runId)
  await upsertGateRequest(tx, source, request)
  await followAll(
    services,
    tx,
    await listHostDeployments(tx, source.org_id, runId, { provider: source.provider, environment }),
  )
}

/** Whether a gate covers what a request is for. */
async function isCovered(
  tx: Tx,
  { org_id, provider }: HostSource,
  request: HostGateRequest,
  now: Date,
): Promise<boolean> {
  const { environment, ref, repository } = request
  const address = `${repository.host}/${repository.full_name}`
  const target = { environment, repository: address, provider, branch: parseBranchName(ref) }
  const versions = await listAskedGates(tx, org_id, { opened: now, now })
  return selectRequired(versions, target, now).length > 0
}

/** Reviewers of the host were asked or have answered, for environments of a run. */
export const applyDeploymentReview: HostEventHandler<'deployment_review'> = async (services, tx, source, review) => {
  const runId = formatHostRunId(source.provider, review.run.id)
  await lockHostRun(tx, source.org_id, runId)
  await upsertReview(tx, source, review, null)
  const deployments = await listHostDeployments(tx, source.org_id, runId, null)
  await followAll(
    services,
    tx,
    deployments.filter(({ environment }) =>
      review.environments.some((name) => isSameEnvironment(source.provider, name, environment)),
    ),
  )
}

/** Keeps what deployments show of a run. A run without deployments costs one round trip. */
export const applyRunToDeployments: HostEventHandler<'run'> = async (services, tx, source, run) => {
  const runId = formatHostRunId(source.provider, run.id)
  // Sent together. PostgreSQL runs them in order, so the last two run under the lock.
  const before = [lockHostRun(tx, source.org_id, runId), upsertRun(tx, source, run)]
  const [deployments] = await Promise.all([listHostDeployments(tx, source.org_id, runId, null), ...before])
  await followAll(services, tx, deployments)
}

function toEnvironmentKey(
  { org_id, provider }: HostSource,
  { repository, environment }: HostDeployment,
): EnvironmentKey {
  return { org_id, provider, repository_id: repository.id, environment }
}

/** Takes the locks in one order: the run, the environment, the deployment. */
async function storeDeployment(
  { clock }: Services,
  tx: Tx,
  source: HostSource,
  deployment: HostDeployment,
): Promise<DeploymentKey> {
  const { org_id, provider } = source
  const { run, repository: named } = deployment
  const runId = run && formatHostRunId(provider, run.id)
  // Sent together. PostgreSQL runs them in order. An old event contains the old name of a renamed
  // repository.
  const locks = [runId && lockHostRun(tx, org_id, runId), lockEnvironment(tx, toEnvironmentKey(source, deployment))]
  const [known, isRunKnown] = await Promise.all([
    findById(tx, org_id, provider, named.id),
    runId && hasRun(tx, org_id, runId),
    ...locks,
  ])
  if (run && !isRunKnown) await enqueueRunRead(tx, { org_id, provider, repository_id: named.id, run_id: run.id })
  const repository = { ...named, ...(known && { full_name: known.full_name }) }
  return upsertHostDeployment(tx, source, { ...deployment, repository }, clock.now())
}

/** Environments and their deployments are locked in the order of the list. */
async function followAll(services: Services, tx: Tx, deployments: LockedDeployment[]): Promise<void> {
  for (const deployment of deployments) {
    await lockEnvironment(tx, deployment)
    await followDeployment(services, tx, { org_id: deployment.org_id, id: deployment.id })
  }
}

type RenamedRepository = { org_id: string; provider: string; repository_id: string }

/** After a repository was renamed: gives its deployments its present name. */
export async function renameDeployments({ sql }: Services, renamed: RenamedRepository): Promise<void> {
  const { org_id, provider, repository_id } = renamed
  const repository = await findById(sql, org_id, provider, repository_id)
  if (repository) await updateRepositoryName(sql, org_id, repository)
}

/** After the runs of a repository got another address: gives their deployments its name. */
export async function renameOpenedDeployments({ sql }: Services, changed: AddressChange): Promise<void> {
  await updateOpenedNames(sql, changed)
}

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
  const { org_id, id, provider, host_run_id, host_attempt } = deployment
  const job_id = statuses.findLast((status) => status.job_id !== null)?.job_id ?? null
  if (host_attempt !== null || host_run_id === null || job_id === null) return
  const newest = await findNewestAttempt(tx, deployment)
  if (newest > 1) await enqueue(tx, readAttemptJob, { org_id, id, provider, job_id, newest })
}

/** The rules of an environment are good for other deployments for this time. */
const RULES_FRESH_MS = 60 * 60_000

async function readMissing({ clock }: Services, tx: Tx, facts: HostFacts): Promise<void> {
  const { deployment } = facts
  const { org_id, id, provider, host_run_id, environment_rules: rules } = deployment
  await readUnknownAttempt(tx, facts)
  const standing = computeStanding(facts)
  if (isMissingReviews(facts, standing)) await enqueue(tx, readReviewsJob, { org_id, id, provider })
  // Each event about a waiting deployment is a reason to look whether its request was lost.
  if (standing.host === 'waiting' && isMissingRequest(facts))
    await enqueue(tx, readRequestsJob, { org_id, id, provider })
  if (host_run_id === null || rules?.is_known) return
  const environment = getEnvironmentKey(deployment)
  const fresh = await findEnvironmentRules(tx, environment, new Date(clock.now().getTime() - RULES_FRESH_MS))
  if (fresh === null) return enqueue(tx, readEnvironmentJob, environment)
  await updateDeploymentRules(tx, deployment, fresh)
  await settleHostDeployment(tx, deployment, clock.now())
}
