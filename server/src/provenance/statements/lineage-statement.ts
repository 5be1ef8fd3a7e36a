import type { Actor } from '../../access/actor.ts'
import { findPromotionPath, type PromotedRow } from '../../deployments/promotion.store.ts'
import { isOver, type PromotedDeployment } from '../../deployments/promotion.ts'
import { createNoStatementError } from '../../errors/provenance.ts'
import { computeRetentionStart } from '../../organizations/plan.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import { type ChainState, readChainState } from '../chain/read-chain-state.ts'
import { getStatedCommits } from '../chain/stated-change.ts'
import { requireAuthentic } from './authentic-statement.ts'
import { getHashes, verifyChange } from './change-statement.ts'
import { findLineageDeployment, type StatedDeployment } from './deployment-statement.store.ts'
import { computeFingerprint, findIssued, issueStatement, requireStatements } from './issue-statement.ts'
import { isCommit, toChangeOfPath, toPromotionPathContent } from './promotion-path.ts'
import type { StatementName } from './statement.store.ts'
import { readRecordedChange, type StoredRecord, type StoredStatement } from './statement-content.ts'

/**
 * Returns the lineage statement of a deployment (provenance.md §3). Throws 404 `not_found`, 402
 * `plan_required` or 409 `statement_unavailable`.
 *
 * A statement that was issued before takes one query.
 */
export async function issueLineageStatement(services: Services, actor: Actor, id: string): Promise<StoredStatement> {
  const key = { org_id: actor.org_id, id }
  const deployment = await findLineageDeployment(services.sql, key, services.clock.now())
  requireRetained(services, actor, deployment)
  requireStatements(actor, services)
  if (!isCommit(deployment.commit_sha)) throw createNoCommitError()
  const unready = explainUnready(deployment)
  if (unready !== null) throw createNoStatementError('LINEAGE_NOT_READY', unready)
  const facts = await computeLineageFacts(services, deployment)
  const { lineage } = deployment
  if (lineage === null || !facts.some((one) => lineage.facts.equals(one)))
    return issueLineage(services, deployment, facts)
  return requireAuthentic(services, { ...key, kind: 'lineage', subject_id: id }, lineage)
}

/** Throws 404 unless the deployment exists and was created within the plan's retention. */
export function requireRetained<Deployment extends PromotedDeployment>(
  { clock }: Services,
  { plan }: Actor,
  deployment: Deployment | null,
): asserts deployment is Deployment {
  if (deployment === null || deployment.created_at < computeRetentionStart(plan, clock.now()))
    throw createNotFoundError('deployment')
}

export function createNoCommitError() {
  return createNoStatementError('NO_COMMIT', 'The deployment does not name a commit.')
}

/** Why the promotion path of a deployment is not complete yet; null if it is. */
export function explainUnready(deployment: StatedDeployment): string | null {
  const { status, run_status, is_first_read_running } = deployment
  if (!isOver(deployment))
    return `The deployment is ${status}, and its run is ${run_status ?? 'unknown'}. Try again when both have ended.`
  return is_first_read_running ? 'The repository is being synchronized for the first time. Try again later.' : null
}

/**
 * SHA-256 of the facts of the lineage statement, and of those that versions without lanes have
 * stated: what was issued keeps its bytes.
 */
export async function computeLineageFacts(services: Services, deployment: StatedDeployment): Promise<Buffer[]> {
  const { change } = deployment
  const state = change?.has_breaks ? await readChainState(services, change) : INTACT
  const { lanes_sha256, ...earlier } = getPathFacts(deployment, change && changeFacts(change, change.hashes, state))
  return [{ ...earlier, lanes_sha256 }, earlier].map(computeFingerprint)
}

/**
 * Issues the statement of a deployment that is over, unless one with these facts was issued. A
 * broken chain does not prevent it: the statement names the breaks.
 */
export async function issueLineage(
  services: Services,
  deployment: StatedDeployment,
  facts: readonly Buffer[],
): Promise<StoredStatement> {
  const name: StatementName = { org_id: deployment.org_id, kind: 'lineage', subject_id: deployment.id }
  const stored = await findIssued(services, name, facts)
  return stored ?? issueNew(services, name, deployment, deployment.change)
}

/** States the change as it was verified, and the path as it was read at once. */
async function issueNew(
  services: Services,
  name: StatementName,
  deployment: PromotedDeployment,
  change: StoredRecord | null,
): Promise<StoredStatement> {
  const verified = change && (await readVerified(services, change, deployment.commit_sha))
  const read = await findPromotionPath(services.sql, deployment, services.clock.now())
  if (read === null) throw createNotFoundError('deployment')
  const { facts = null, stated = null } = verified ?? {}
  return issueStatement(services, name, getPathFacts(read, facts), () => toPromotionPathContent(read, stated))
}

/** Null if the record does not name the commit, although a row of the database does. */
async function readVerified(services: Services, change: StoredRecord, sha: string) {
  const { links, ...state } = await verifyChange(services, change)
  const stated = state.state === 'broken' ? null : readRecordedChange(links)
  if (stated !== null && !getStatedCommits(stated.record).includes(sha)) return null
  return {
    facts: changeFacts(change, stated === null ? change.hashes : getHashes(stated), state),
    stated: toChangeOfPath(change.id, stated, state.breaks),
  }
}

const INTACT: ChainState = { state: 'intact', breaks: [] }

/** What determines the stated change. The records of a broken chain are not stated. */
function changeFacts({ id }: StoredRecord, hashes: StoredRecord['hashes'], { state, breaks }: ChainState) {
  return { id, hashes: state === 'broken' ? null : hashes, breaks }
}

/**
 * What determines a promotion path: the digests of the path and its lanes, and the change's hashes.
 */
export function getPathFacts(deployment: PromotedRow, change: ReturnType<typeof changeFacts> | null) {
  const { provider, repository_id, address, commit_sha, path_sha256, lanes_sha256 } = deployment
  return { provider, repository_id, address, commit_sha, path_sha256, lanes_sha256, change }
}
