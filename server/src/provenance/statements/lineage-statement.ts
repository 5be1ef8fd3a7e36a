import type { Actor } from '../../access/actor.ts'
import { isFirstReadRunning } from '../../codehosts/sync/sync-repository.store.ts'
import { findPromoted, readPromotionPath } from '../../deployments/promotion.store.ts'
import { isOver, type PromotedDeployment } from '../../deployments/promotion.ts'
import { retainedSince } from '../../organizations/plan.ts'
import { notFound } from '../../platform/http/errors.ts'
import { findFollowed } from '../../repositories/followed-repository.store.ts'
import { locateRepository } from '../../repositories/repository-lookup.store.ts'
import type { Services } from '../../services.ts'
import { type ChainState, readChainState } from '../chain/read-chain-state.ts'
import { commitsOf } from '../chain/stated-change.ts'
import { findChangeOfCommit } from '../changes/change.store.ts'
import { requireStatements, unavailable } from '../changes/statement-errors.ts'
import { readRecordedChange } from './change-content.ts'
import { findIssuedChange, type IssuedChange } from './change-statement.store.ts'
import { hashesOf } from './change-statement.ts'
import { fingerprintOf, issueStatement } from './issue-statement.ts'
import { isCommit, promotionPathContent, toChangeOfPath } from './promotion-path.ts'
import { findStatement, type StatementName, type StoredStatement } from './statement.store.ts'
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

async function isSynchronizedFirst(services: Services, deployment: PromotedDeployment): Promise<boolean> {
  const { sql } = services
  const { org_id } = deployment
  const repository = await findRepositoryOf(services, deployment)
  if (repository === null) return false
  const followed = await findFollowed(sql, { org_id, ...repository })
  if (!followed?.connection_id) return false
  return isFirstReadRunning(sql, { org_id, connection_id: followed.connection_id }, repository.id)
}

/** The change that the deployed commit landed with. Repositories without a code host have none. */
export async function findChangeOf(services: Services, deployment: PromotedDeployment): Promise<IssuedChange | null> {
  const { sql } = services
  const { org_id, commit_sha: sha } = deployment
  const repository = await findRepositoryOf(services, deployment)
  if (repository === null) return null
  const { provider, id: repository_id } = repository
  const id = await findChangeOfCommit(sql, { org_id, provider, repository_id, sha })
  return id === null ? null : findIssuedChange(sql, org_id, id)
}

/** A self-reported deployment names its repository by the address. Null if it is not linked. */
async function findRepositoryOf(
  { sql }: Services,
  { org_id, provider, repository_id: id, address }: PromotedDeployment,
): Promise<{ provider: string; id: string } | null> {
  if (provider !== null && id !== null) return { provider, id }
  const { linked } = await locateRepository(sql, org_id, address)
  return linked && { provider: linked.provider, id: linked.id }
}

/**
 * Issues the statement of a deployment that is over. A broken chain does not prevent it: the
 * statement names the breaks.
 */
export async function issueLineageOf(
  services: Services,
  deployment: StatedDeployment,
  change: IssuedChange | null,
): Promise<StoredStatement> {
  const name: StatementName = { org_id: deployment.org_id, kind: 'lineage', subject_id: deployment.id }
  const state = change?.has_breaks ? await readChainState(services, change) : INTACT
  const known = pathFacts(deployment, change && changeFacts(change, change.hashes, state))
  const stored = await findStatement(services.sql, name, fingerprintOf(known))
  return stored ?? issueNew(services, name, deployment, change)
}

/** States the change as it was verified, and the path as it was read at once. */
async function issueNew(
  services: Services,
  name: StatementName,
  deployment: PromotedDeployment,
  change: IssuedChange | null,
): Promise<StoredStatement> {
  const verified = change && (await readVerified(services, change, deployment.commit_sha))
  const read = await readPromotionPath(services.sql, deployment, services.clock.now())
  if (read === null) throw notFound('deployment')
  const { facts = null, stated = null } = verified ?? {}
  return issueStatement(services, name, pathFacts(read, facts), () => promotionPathContent(read, read.path, stated))
}

/** Null if the record does not name the commit, although a row of the database does. */
async function readVerified(services: Services, change: IssuedChange, sha: string) {
  const { links, ...state } = await verifyChange(services, change)
  const stated = state.state === 'broken' ? null : readRecordedChange(links)
  if (stated !== null && !commitsOf(stated.record).includes(sha)) return null
  return {
    facts: changeFacts(change, stated === null ? change.hashes : hashesOf(stated), state),
    stated: toChangeOfPath(change.id, stated, state.breaks),
  }
}

const INTACT: ChainState = { state: 'intact', breaks: [] }

/** What determines the stated change. The records of a broken chain are not stated. */
function changeFacts({ id }: IssuedChange, hashes: IssuedChange['hashes'], { state, breaks }: ChainState) {
  return { id, hashes: state === 'broken' ? null : hashes, breaks }
}

/** What determines a promotion path: the digest of the path, and the hashes of the change. */
export function pathFacts(deployment: StatedDeployment, change: ReturnType<typeof changeFacts> | null) {
  const { provider, repository_id, address, commit_sha, path_sha256 } = deployment
  return { provider, repository_id, address, commit_sha, path_sha256, change }
}
