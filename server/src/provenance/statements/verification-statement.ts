import type { Actor } from '../../access/actor.ts'
import { listGates } from '../../deployments/gates/configure/configured-gate.store.ts'
import { coversTarget } from '../../deployments/gates/configure/configured-gate.ts'
import { requiresGates } from '../../deployments/gates/configure/required-gate.store.ts'
import { readPromotionPath } from '../../deployments/promotion.store.ts'
import { hasSucceeded, type PromotedDeployment } from '../../deployments/promotion.ts'
import { notFound } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import { commitsOf } from '../chain/stated-change.ts'
import type { ChangeRecord } from '../changes/change-record.ts'
import { unavailable } from '../changes/statement-errors.ts'
import { type RecordedChange, readRecordedChange } from './change-content.ts'
import type { IssuedChange } from './change-statement.store.ts'
import { issueChangeStatement, issuedBefore } from './change-statement.ts'
import { fingerprintOf, issueStatement } from './issue-statement.ts'
import {
  findChangeOf,
  findUnready,
  issueLineageOf,
  noCommit,
  requireDeployment,
  type StatedDeployment,
} from './lineage-statement.ts'
import { isCommit } from './promotion-path.ts'
import { findStatement, type StatementName, type StoredStatement } from './statement.store.ts'
import { type InputAttestation, summaryContent, summaryFacts } from './verification-summary.ts'
import { verifyChange } from './verify-change.ts'

/**
 * Returns the verification summary of a deployment (provenance.md §3). Its inputs, the statements
 * of the change and of the promotion path, are issued first. Throws 404, 402 `plan_required` or 409
 * `statement_unavailable`.
 */
export async function issueVerificationStatement(
  services: Services,
  actor: Actor,
  id: string,
): Promise<StoredStatement> {
  const deployment = await requireDeployment(services, actor, id)
  await requireVerifiable(services, deployment)
  const change = await findChangeOf(services, deployment)
  if (change === null) throw noChange()
  const inputs = [
    attestationOf(services, `changes/${change.id}`, await issueChangeStatement(services, actor, change.id)),
    attestationOf(services, `deployments/${id}/lineage`, await issueLineageOf(services, deployment, change)),
  ]
  return issueSummary(services, deployment, change, inputs)
}

/** The reasons that concern only the deployment, in the order of provenance.md §4. */
async function requireVerifiable(services: Services, deployment: PromotedDeployment): Promise<void> {
  if (!(await isProtected(services, deployment))) {
    const message = `No gate covers ${deployment.environment}, so there is nothing to verify the deployment against.`
    throw unavailable('NOT_PROTECTED', message)
  }
  if (!isCommit(deployment.commit_sha)) throw noCommit()
  if (!hasSucceeded(deployment)) throw unavailable('NOT_DEPLOYED', `The deployment is ${deployment.status}.`)
  const unready = await findUnready(services, deployment)
  if (unready !== null) throw unavailable('NOT_DEPLOYED', unready)
}

/** True if a gate covers the deployment, or covered it when it was created. */
async function isProtected({ sql }: Services, deployment: PromotedDeployment): Promise<boolean> {
  const { org_id, environment, address: repository, branch, created_at } = deployment
  if (await requiresGates(sql, deployment)) return true
  const gates = await listGates(sql, org_id)
  return gates.some((gate) => gate.created_at <= created_at && coversTarget(gate, { environment, repository, branch }))
}

function noChange() {
  const message = 'No change record has the commit of the deployment. Only connected repositories have change records.'
  return unavailable('NO_CHANGE', message)
}

function attestationOf({ config }: Services, subject: string, { statement_digest }: StoredStatement): InputAttestation {
  const sha256 = statement_digest.replace('sha256:', '')
  return { uri: `${config.baseUrl}/v1/provenance/${subject}/statement`, digest: { sha256 } }
}

async function issueSummary(
  services: Services,
  deployment: StatedDeployment,
  change: IssuedChange,
  inputs: InputAttestation[],
): Promise<StoredStatement> {
  const name: StatementName = { org_id: deployment.org_id, kind: 'verification', subject_id: deployment.id }
  const stored = await findStatement(services.sql, name, fingerprintOf(summaryFacts(deployment, inputs)))
  if (stored !== null) return stored
  const verified = await verifyChange(services, change)
  const stated = verified.state === 'broken' ? null : readRecordedChange(verified.links)
  if (stated === null) return issuedBefore(services, name)
  const record = withAmendedDeviations(stated)
  if (!commitsOf(record).includes(deployment.commit_sha)) throw noChange()
  const read = await readPromotionPath(services.sql, deployment, services.clock.now())
  if (read === null) throw notFound('deployment')
  return issueStatement(services, name, summaryFacts(read, inputs), (issuedAt) =>
    summaryContent({ deployment: read, path: read.path, record, inputs, issuedAt }),
  )
}

/** The record with the deviations that became known later, such as a check that failed. */
function withAmendedDeviations({ record, amendments }: RecordedChange): ChangeRecord {
  const later = amendments.flatMap(({ facts }) => facts.deviations)
  return { ...record, deviations: [...new Set([...record.deviations, ...later])] }
}
