import { findCallKey } from '../../codehosts/connections/call.store.ts'
import { findHostRepository, openRepository, openRepositoryClient } from '../../codehosts/connections/open-client.ts'
import type { HostDeployment, HostDeploymentReview, HostDeploymentStatus } from '../../codehosts/host-deployment.ts'
import type { HostRepository } from '../../codehosts/host-repository.ts'
import { formatHostRunId } from '../../codehosts/host-run.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { isSameEnvironment } from '../../repositories/repository-identity.ts'
import type { Services } from '../../services.ts'
import { getDecisionKey } from '../decisions/send-to-host.ts'
import type { DeploymentKey } from '../deployment-state.ts'
import {
  type DeploymentRow,
  findHostDeployment,
  listOpenDeployments,
  updateAttempt,
  updateReviewsRead,
  updateUndelivered,
} from '../host/host-deployment.store.ts'
import { lockEnvironment, lockHostRun } from '../host/host-facts.store.ts'
import { insertStatus, upsertReview } from '../host/host-news.store.ts'
import { applyGateRequest, followDeployment } from './apply-deployment.ts'

/** Reads the answers of reviewers to the run of a deployment that has gone on. */
export async function readReviews(services: Services, key: DeploymentKey): Promise<void> {
  const found = await openDeployment(services, key)
  if (!found) return abandonReviews(services, key)
  const reviews = await found.client.listDeploymentReviews(found.deployment.repository, found.runId)
  await saveFacts(services, key, found.deployment, async (tx) => {
    await storeReviews(tx, key, found.deployment, reviews)
    await updateReviewsRead(tx, key, 'done')
  })
}

/** The reviews cannot be read, so it stays open whether the reviewers were bypassed. */
export async function abandonReviews(services: Services, key: DeploymentKey): Promise<void> {
  const deployment = await readStored(services, key)
  if (deployment) await saveFacts(services, key, deployment, (tx) => updateReviewsRead(tx, key, 'failed'))
}

/**
 * Stores the requests of a waiting deployment as its host states them now: the one that the host
 * sent may be lost, and it is not sent again by itself.
 */
export async function readRequests(services: Services, key: DeploymentKey): Promise<void> {
  const { org_id } = key
  const deployment = await readStored(services, key)
  if (deployment === null) return
  const { provider, id: repository_id } = deployment.repository
  const opened = await openRepository(services, { org_id, provider, repository_id })
  if (opened === null) return
  const { client, connection } = opened
  const source = { org_id, connection_id: connection.id, provider: connection.provider, host: connection.host }
  for (const request of await client.listGateRequests(deployment))
    await services.sql.begin((tx) => applyGateRequest(services, tx, source, request))
}

type EndedCall = { org_id: string; call_id: string; subject_type: string; subject_id: string; outcome: string }

/**
 * A call about a deployment has ended. If the host refused our decision or comment, its own view is
 * read and stored. A deployment shows that the decision did not reach its host.
 */
export async function followCall(services: Services, call: EndedCall): Promise<void> {
  const { org_id, subject_type, subject_id: id, outcome } = call
  if (subject_type !== 'deployment') return
  const key = { org_id, id }
  const isDecision = (await findCallKey(services.sql, org_id, call.call_id)) === getDecisionKey(key)
  if (!isDecision && outcome !== 'refused') return
  const found = outcome === 'refused' ? await openDeployment(services, key) : null
  const view = found && (await readView(found))
  const deployment = found?.deployment ?? (await readStored(services, key))
  if (!deployment) return
  await saveFacts(services, key, deployment, async (tx) => {
    if (view) await storeReviews(tx, key, deployment, view.reviews)
    for (const status of view?.statuses ?? []) await insertStatus(tx, key, status)
    const isUndelivered = outcome === 'failed' || (outcome === 'refused' && view?.isPending !== false)
    if (isDecision) await updateUndelivered(tx, key, isUndelivered)
  })
}

type OpenedDeployment = NonNullable<Awaited<ReturnType<typeof openDeployment>>>
type HostView = { reviews: HostDeploymentReview[]; statuses: HostDeploymentStatus[]; isPending: boolean }

/** Null if the deployment has no run, or if no active connection has its repository. */
export async function openDeployment(services: Services, key: DeploymentKey) {
  const deployment = await readStored(services, key)
  if (deployment === null || deployment.run === null) return null
  const client = await openRepositoryClient(services, key.org_id, deployment.repository)
  return client && { client, deployment, runId: deployment.run.id }
}

/** A deployment with its repository, as requests to the host need it. */
async function readStored({ sql }: Services, key: DeploymentKey): Promise<HostDeployment | null> {
  const row = await findHostDeployment(sql, key)
  const repository = row && (await findHostRepository(sql, key.org_id, row.provider, row.repository_id))
  return repository ? toHostDeployment(row, repository) : null
}

function toHostDeployment(row: DeploymentRow, repository: HostRepository): HostDeployment {
  const { provider: _, repository_id: __, host_run_id: runId, host_attempt: attempt, ...deployment } = row
  const run = runId === null ? null : { id: runId, attempt }
  return { ...deployment, repository, run, creator: null, description: null }
}

/**
 * Deployments that are stored as waiting or in progress, as the synchronization reads them again.
 */
export async function listOpenHostDeployments(
  db: Db,
  orgId: string,
  repository: HostRepository,
  limit: number,
): Promise<HostDeployment[]> {
  const rows = await listOpenDeployments(db, orgId, repository, limit)
  return rows.map((row) => toHostDeployment(row, repository))
}

async function readView({ client, deployment, runId }: OpenedDeployment): Promise<HostView> {
  const { repository, environment } = deployment
  const [pending, reviews, statuses] = await Promise.all([
    client.listPendingDeployments(repository, runId),
    client.listDeploymentReviews(repository, runId),
    client.listDeploymentStatuses(deployment),
  ])
  const isPending = pending.some((waiting) => isSameEnvironment(repository.provider, waiting.environment, environment))
  return { reviews, statuses, isPending }
}

/** Stores facts under the locks that events take, and derives the state of the deployment. */
async function saveFacts(
  services: Services,
  key: DeploymentKey,
  { repository, environment, run }: HostDeployment,
  write: (tx: Tx) => Promise<void>,
): Promise<void> {
  const { org_id } = key
  const { provider, id: repository_id } = repository
  await services.sql.begin(async (tx) => {
    if (run) await lockHostRun(tx, org_id, formatHostRunId(provider, run.id))
    await lockEnvironment(tx, { org_id, provider, repository_id, environment })
    await write(tx)
    await followDeployment(services, tx, key)
  })
}

/** Lists do not name attempts, so the same review can be in them more than once. */
async function storeReviews(
  tx: Tx,
  { org_id }: DeploymentKey,
  { repository: { provider }, environment }: HostDeployment,
  reviews: HostDeploymentReview[],
): Promise<void> {
  const own = reviews.filter(({ environments }) =>
    environments.some((name) => isSameEnvironment(provider, name, environment)),
  )
  const groups = Map.groupBy(own, ({ state, reviewer, run }) => JSON.stringify([state, reviewer?.login, run.attempt]))
  for (const [review, ...again] of groups.values())
    if (review)
      await upsertReview(tx, { org_id, provider }, { ...review, environments: [environment] }, again.length + 1)
}

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
