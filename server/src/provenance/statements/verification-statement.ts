import type { Actor } from '../../access/actor.ts'
import { isTargetCovered } from '../../deployments/asked-gate.ts'
import { findPromotionPath } from '../../deployments/promotion.store.ts'
import { hasSucceeded } from '../../deployments/promotion.ts'
import { createNoStatementError } from '../../errors/provenance.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import { getStatedCommits } from '../chain/stated-change.ts'
import type { ChangeRecord } from '../changes/change-record.ts'
import { requireAuthentic } from './authentic-statement.ts'
import {
  getChangeFacts,
  issueChangeStatement,
  requireIssuedStatement,
  requireRetainedChange,
  verifyChange,
} from './change-statement.ts'
import { findVerifiedDeployment, type VerifiedDeployment } from './deployment-statement.store.ts'
import { computeFingerprint, findIssued, issueStatement, requireStatements } from './issue-statement.ts'
import {
  computeLineageFacts,
  createNoCommitError,
  explainUnready,
  issueLineage,
  requireRetained,
} from './lineage-statement.ts'
import { isCommit } from './promotion-path.ts'
import type { StatementName } from './statement.store.ts'
import {
  type RecordedChange,
  readRecordedChange,
  type StoredRecord,
  type StoredStatement,
} from './statement-content.ts'
import { getEarlierFacts, getSummaryFacts, type InputAttestation, toSummaryContent } from './verification-summary.ts'

/**
 * Returns the verification summary of a deployment (provenance.md §3). Its inputs, the statements
 * of the change and of the promotion path, are issued first. Throws 404, 402 `plan_required` or 409
 * `statement_unavailable`.
 *
 * A summary that was issued before takes one query.
 */
export async function issueVerificationStatement(
  services: Services,
  actor: Actor,
  id: string,
): Promise<StoredStatement> {
  const key = { org_id: actor.org_id, id }
  const deployment = await findVerifiedDeployment(services.sql, key, services.clock.now())
  requireRetained(services, actor, deployment)
  requireStatements(actor, services)
  requireVerifiable(deployment)
  const { change } = deployment
  if (change === null) throw noChange()
  requireRetainedChange(services, actor, change)
  return (await findCurrent(services, deployment, change)) ?? (await issueNew(services, actor, deployment, change))
}

/**
 * The summary with the present facts, if it was issued last. Its facts, which are authenticated,
 * contain the digests of its inputs, so the rows of these need not be.
 */
async function findCurrent(
  services: Services,
  deployment: VerifiedDeployment,
  change: StoredRecord,
): Promise<StoredStatement | null> {
  const { verification, org_id, id } = deployment
  const digests = verification && (await readDigests(services, deployment, change))
  if (verification === null || digests === null) return null
  const facts = computeSummaryFacts(deployment, toAttestations(services, deployment, change, digests))
  if (!facts.some((one) => verification.facts.equals(one))) return null
  return requireAuthentic(services, { org_id, kind: 'verification', subject_id: id }, verification)
}

/** The present facts, and those of versions without lanes. */
function computeSummaryFacts(deployment: VerifiedDeployment, inputs: InputAttestation[]): Buffer[] {
  return [getSummaryFacts(deployment, inputs), getEarlierFacts(deployment, inputs)].map(computeFingerprint)
}

/** The inputs are issued first. Those that were issued before are verified. */
async function issueNew(
  services: Services,
  actor: Actor,
  deployment: VerifiedDeployment,
  change: StoredRecord,
): Promise<StoredStatement> {
  const digests = {
    change: (await issueChangeStatement(services, actor, change.id)).statement_digest,
    lineage: (await issueLineage(services, deployment, await computeLineageFacts(services, deployment)))
      .statement_digest,
  }
  return issueSummary(services, deployment, change, toAttestations(services, deployment, change, digests))
}

/** The reasons that concern only the deployment, in the order of provenance.md §4. */
function requireVerifiable(deployment: VerifiedDeployment): void {
  if (!isProtected(deployment)) {
    const message = `No gate covers ${deployment.environment}, so there is nothing to verify the deployment against.`
    throw createNoStatementError('NOT_PROTECTED', message)
  }
  if (!isCommit(deployment.commit_sha)) throw createNoCommitError()
  if (!hasSucceeded(deployment)) throw createNoStatementError('NOT_DEPLOYED', `The deployment is ${deployment.status}.`)
  const unready = explainUnready(deployment)
  if (unready !== null) throw createNoStatementError('NOT_DEPLOYED', unready)
}

/** True if a gate covers the deployment, or covered it when it was created. */
function isProtected(deployment: VerifiedDeployment): boolean {
  const { environment, address: repository, branch, has_required_gates, earlier_gates } = deployment
  return has_required_gates || earlier_gates.some((gate) => isTargetCovered(gate, { environment, repository, branch }))
}

type Digests = { change: string; lineage: string }

/**
 * The digests of the inputs as their rows have them; null if they were not issued with the present
 * facts. The breaks of a chain have to be read, so they are left to `issueChangeStatement`.
 */
async function readDigests(
  services: Services,
  deployment: VerifiedDeployment,
  { hashes, has_breaks }: StoredRecord,
): Promise<Digests | null> {
  const { change, lineage } = deployment.inputs
  if (hashes === null || has_breaks || change === null || lineage === null) return null
  if (!change.facts.equals(computeFingerprint(getChangeFacts(hashes, [])))) return null
  const facts = await computeLineageFacts(services, deployment)
  if (!facts.some((one) => lineage.facts.equals(one))) return null
  return { change: change.statement_digest, lineage: lineage.statement_digest }
}

function noChange() {
  const message =
    'No change record has the commit of the deployment. Only deployments of connected code hosts have one.'
  return createNoStatementError('NO_CHANGE', message)
}

function toAttestations(
  { config }: Services,
  deployment: VerifiedDeployment,
  change: StoredRecord,
  digests: Digests,
): InputAttestation[] {
  const inputs = [
    [`changes/${change.id}`, digests.change],
    [`deployments/${deployment.id}/lineage`, digests.lineage],
  ] as const
  return inputs.map(([subject, digest]) => ({
    uri: `${config.baseUrl}/v1/provenance/${subject}/statement`,
    digest: { sha256: digest.replace('sha256:', '') },
  }))
}

async function issueSummary(
  services: Services,
  deployment: VerifiedDeployment,
  change: StoredRecord,
  inputs: InputAttestation[],
): Promise<StoredStatement> {
  const name: StatementName = { org_id: deployment.org_id, kind: 'verification', subject_id: deployment.id }
  const stored = await findIssued(services, name, computeSummaryFacts(deployment, inputs))
  if (stored !== null) return stored
  const verified = await verifyChange(services, change)
  const stated = verified.state === 'broken' ? null : readRecordedChange(verified.links)
  if (stated === null) return requireIssuedStatement(services, name)
  const record = withAmendedDeviations(stated)
  if (!getStatedCommits(record).includes(deployment.commit_sha)) throw noChange()
  const read = await findPromotionPath(services.sql, deployment, services.clock.now())
  if (read === null) throw createNotFoundError('deployment')
  return issueStatement(services, name, getSummaryFacts(read, inputs), (issuedAt) =>
    toSummaryContent({ deployment: read, record, inputs, issuedAt }),
  )
}

/** The record with the deviations that became known later, such as a check that failed. */
function withAmendedDeviations({ record, amendments }: RecordedChange): ChangeRecord {
  const later = amendments.flatMap(({ facts }) => facts.deviations)
  return { ...record, deviations: [...new Set([...record.deviations, ...later])] }
}
