import type { Actor } from '../../access/actor.ts'
import { isFirstReadRunning } from '../../codehosts/sync/sync-repository.store.ts'
import { findPromoted, readPromotionPath } from '../../deployments/promotion.store.ts'
import { isOver, type PromotedDeployment } from '../../deployments/promotion.ts'
import { retainedSince } from '../../organizations/plan.ts'
import { notFound } from '../../platform/http/errors.ts'
import { findFollowed } from '../../repositories/followed-repository.store.ts'
import type { Services } from '../../services.ts'
import { readChainState } from '../chain/read-chain-state.ts'
import { findChangeOfCommit, type StoredChange } from '../changes/change.store.ts'
import { fingerprintOf, issueStatement } from './issue-statement.ts'
import { type ChangeOfPath, isCommit, promotionPathContent, toChangeOfPath } from './promotion-path.ts'
import { findStatement, type StatementName, type StoredStatement } from './statement.store.ts'
import { requireStatements, unavailable } from './statement-errors.ts'
import { verifyChange } from './verify-change.ts'

export type StatedDeployment = PromotedDeployment & { path_sha256: string }

/**
 * Returns the lineage statement of a deployment (provenance.md §3). Throws 404 `not_found`, 402
 * `plan_required` or 409 `statement_unavailable`.
 */
export async function issueLineageStatement(services: Services, actor: Actor, id: string): Promise<StoredStatement> {
  const deployment = await requireDeployment(services, actor, id)
  if (!isCommit(deployment.commit_sha)) throw noCommit()
  const unready = await findUnready(services, deployment)
  if (unready !== null) throw unavailable('LINEAGE_NOT_READY', unready)
  return issueLineageOf(services, deployment, await findChangeOf(services, deployment))
}

/**
 * A deployment within the plan's retention. Throws 404, and then 402 if the plan has no statements.
 */
export async function requireDeployment(services: Services, actor: Actor, id: string): Promise<StatedDeployment> {
  const now = services.clock.now()
  const key = { org_id: actor.org_id, id }
  const deployment = await findPromoted(services.sql, key, { retainedSince: retainedSince(actor.plan, now), now })
  if (deployment === null) throw notFound('deployment')
  requireStatements(actor, services)
  return deployment
}

export function noCommit() {
  return unavailable('NO_COMMIT', 'The deployment does not name a commit.')
}

/** Why the promotion path of a deployment is not complete yet; null if it is. */
export async function findUnready(services: Services, deployment: PromotedDeployment): Promise<string | null> {
  const { status, run_status } = deployment
  if (!isOver(deployment))
    return `The deployment is ${status}, and its run is ${run_status ?? 'unknown'}. Try again when both have ended.`
  const isIncomplete = await isSynchronizedFirst(services, deployment)
  return isIncomplete ? 'The repository is being synchronized for the first time. Try again later.' : null
}

async function isSynchronizedFirst({ sql }: Services, deployment: PromotedDeployment): Promise<boolean> {
  const { org_id, provider, repository_id: id } = deployment
  if (provider === null || id === null) return false
  const repository = await findFollowed(sql, { org_id, provider, id })
  if (!repository?.connection_id) return false
  return isFirstReadRunning(sql, { org_id, connection_id: repository.connection_id }, id)
}

/** The change that the deployed commit landed with. Self-reported deployments have none. */
export async function findChangeOf({ sql }: Services, deployment: PromotedDeployment): Promise<StoredChange | null> {
  const { org_id, provider, repository_id, commit_sha: sha } = deployment
  if (provider === null || repository_id === null) return null
  return findChangeOfCommit(sql, { org_id, provider, repository_id, sha })
}

/**
 * Issues the statement of a deployment that is over. A broken chain does not prevent it: the
 * statement names the breaks.
 */
export async function issueLineageOf(
  services: Services,
  deployment: StatedDeployment,
  change: StoredChange | null,
): Promise<StoredStatement> {
  const name: StatementName = { org_id: deployment.org_id, kind: 'lineage', subject_id: deployment.id }
  const known = pathFacts(deployment, change && toChangeOfPath(change, await readChainState(services, change)))
  const stored = await findStatement(services.sql, name, fingerprintOf(known))
  return stored ?? issueNew(services, name, deployment, change)
}

async function issueNew(
  services: Services,
  name: StatementName,
  deployment: PromotedDeployment,
  change: StoredChange | null,
): Promise<StoredStatement> {
  const stated = change && toChangeOfPath(change, await verifyChange(services, change))
  const read = await readPromotionPath(services.sql, deployment, services.clock.now())
  if (read === null) throw notFound('deployment')
  return issueStatement(services, name, pathFacts(read, stated), () => promotionPathContent(read, read.path, stated))
}

/** Everything that the statement states, with the digest of the path in place of the path. */
export function pathFacts(deployment: StatedDeployment, change: ChangeOfPath | null) {
  const { provider, repository_id, address, commit_sha, path_sha256 } = deployment
  return { provider, repository_id, address, commit_sha, path_sha256, change }
}
