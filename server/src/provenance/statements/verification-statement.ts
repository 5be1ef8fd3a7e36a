import type { Actor } from '../../access/actor.ts'
import { isTargetCovered } from '../../deployments/gates/configured-gate.ts'
import { findPromotionPath } from '../../deployments/promotion.store.ts'
import { hasSucceeded } from '../../deployments/promotion.ts'
import { createNoStatementError } from '../../errors/provenance.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import { getStatedCommits } from '../chain/stated-change.ts'
import type { ChangeRecord } from '../changes/change-record.ts'
import {
  getChangeFacts,
  issueChangeStatement,
  requireIssuedStatement,
  requireRetainedChange,
  verifyChange,
} from './change-statement.ts'
import { findVerifiedDeployment, type StatedDeployment, type VerifiedDeployment } from './deployment-statement.store.ts'
import { computeFingerprint, issueStatement, requireStatements } from './issue-statement.ts'
import {
  computeLineageFacts,
  createNoCommitError,
  explainUnready,
  issueLineage,
  requireRetained,
} from './lineage-statement.ts'
import { isCommit } from './promotion-path.ts'
import { findStatement, type StatementName, type StoredStatement } from './statement.store.ts'
import { type RecordedChange, readRecordedChange, type StoredRecord } from './statement-content.ts'
import { getSummaryFacts, type InputAttestation, toSummaryContent } from './verification-summary.ts'

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
  const inputs = [
    toAttestation(services, `changes/${change.id}`, await digestOfChange(services, actor, deployment, change)),
    toAttestation(services, `deployments/${id}/lineage`, await digestOfLineage(services, deployment)),
  ]
  const facts = computeFingerprint(getSummaryFacts(deployment, inputs))
  const { verification } = deployment
  return verification?.facts.equals(facts) ? verification : issueSummary(services, deployment, change, inputs)
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

/** The breaks of a chain have to be read, so they are left to `issueChangeStatement`. */
async function digestOfChange(
  services: Services,
  actor: Actor,
  { inputs }: VerifiedDeployment,
  change: StoredRecord,
): Promise<string> {
  requireRetainedChange(services, actor, change)
  const present = change.hashes && !change.has_breaks ? computeFingerprint(getChangeFacts(change.hashes, [])) : null
  if (present !== null && inputs.change?.facts.equals(present)) return inputs.change.statement_digest
  return (await issueChangeStatement(services, actor, change.id)).statement_digest
}

async function digestOfLineage(services: Services, deployment: VerifiedDeployment): Promise<string> {
  const facts = await computeLineageFacts(services, deployment)
  const { lineage } = deployment.inputs
  if (lineage?.facts.equals(facts)) return lineage.statement_digest
  return (await issueLineage(services, deployment, facts)).statement_digest
}

function noChange() {
  const message =
    'No change record has the commit of the deployment. Only deployments of connected code hosts have one.'
  return createNoStatementError('NO_CHANGE', message)
}

function toAttestation({ config }: Services, subject: string, statement_digest: string): InputAttestation {
  const sha256 = statement_digest.replace('sha256:', '')
  return { uri: `${config.baseUrl}/v1/provenance/${subject}/statement`, digest: { sha256 } }
}

async function issueSummary(
  services: Services,
  deployment: StatedDeployment,
  change: StoredRecord,
  inputs: InputAttestation[],
): Promise<StoredStatement> {
  const name: StatementName = { org_id: deployment.org_id, kind: 'verification', subject_id: deployment.id }
  const stored = await findStatement(services.sql, name, computeFingerprint(getSummaryFacts(deployment, inputs)))
  if (stored !== null) return stored
  const verified = await verifyChange(services, change)
  const stated = verified.state === 'broken' ? null : readRecordedChange(verified.links)
  if (stated === null) return requireIssuedStatement(services, name)
  const record = withAmendedDeviations(stated)
  if (!getStatedCommits(record).includes(deployment.commit_sha)) throw noChange()
  const read = await findPromotionPath(services.sql, deployment, services.clock.now())
  if (read === null) throw createNotFoundError('deployment')
  return issueStatement(services, name, getSummaryFacts(read, inputs), (issuedAt) =>
    toSummaryContent({ deployment: read, path: read.path, record, inputs, issuedAt }),
  )
}

/** The record with the deviations that became known later, such as a check that failed. */
function withAmendedDeviations({ record, amendments }: RecordedChange): ChangeRecord {
  const later = amendments.flatMap(({ facts }) => facts.deviations)
  return { ...record, deviations: [...new Set([...record.deviations, ...later])] }
}
