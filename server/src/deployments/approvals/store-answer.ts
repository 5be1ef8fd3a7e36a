import type { Actor } from '../../access/actor.ts'
import { recordAudit } from '../../audit/audit.store.ts'
import type { Principal } from '../../audit/principal.ts'
import type { PolicyEvaluation } from '../../compliance/policy-evaluation.ts'
import type { Tx } from '../../platform/db/sql.ts'
import type { Services } from '../../services.ts'
import { auditOutcome, decideDeployment } from '../decide-deployment.ts'
import type { DeploymentStatus } from '../deployment.schema.ts'
import { OWN_RULE } from '../new-deployment.store.ts'
import { decided } from '../outcome.ts'
import { writeEvaluation } from '../policy/evaluation.store.ts'
import { saysSomething, toPolicyEvaluation } from '../policy/policy-approval.ts'
import { approveRequiredGates } from '../required-gate.store.ts'
import { announceAnswer } from './announce-answer.ts'
import { type Answer, appendApproval, insertAnswer, writeOverride } from './answer.store.ts'
import type { Asked } from './answer-deployment.ts'
import { newlyApproved } from './gate-approval.ts'
import { toOverride } from './override.ts'

/** Stores an answer that may be given, and all that follows from it, under the deployment's lock. Returns the status. */
export async function storeAnswer(
  services: Services,
  tx: Tx,
  actor: Actor,
  asked: Asked,
  answer: Answer,
  evaluation: PolicyEvaluation | null,
): Promise<DeploymentStatus> {
  const { state } = asked
  const { org_id } = actor
  const now = answer.answered_at
  await insertAnswer(tx, org_id, state.id, answer)
  await appendApproval(tx, org_id, state.id, toApproval(answer), now)
  const told = { principal: principalOf(actor), outcome: answer.decision, reason: answer.reason }
  await auditOutcome(tx, org_id, state.id, told, now)
  if (evaluation) await storeEvaluation(tx, actor, asked, answer, evaluation)
  const isLast = answer.decision === 'rejected' || (await approvesAll(tx, org_id, asked, answer))
  await announceAnswer(services, tx, org_id, state, answer, isLast)
  if (!isLast) return state.status
  const outcome = decided(answer.decision, `api_key:${answer.principal_name}`, noteOf(answer))
  return decideDeployment(tx, org_id, state, outcome, now)
}

/** What the policies said when the answer was given, and that it went against them where it did. */
async function storeEvaluation(
  tx: Tx,
  actor: Actor,
  { state, runCredentialId }: Asked,
  answer: Answer,
  evaluation: PolicyEvaluation,
): Promise<void> {
  const { org_id, credential } = actor
  const now = answer.answered_at
  if (saysSomething(evaluation)) await writeEvaluation(tx, org_id, state.id, toPolicyEvaluation(evaluation), now)
  if (evaluation.decision !== 'block') return
  const details = toOverride(answer, evaluation, credential.id === runCredentialId)
  await writeOverride(tx, org_id, state.id, details, now)
  const object = { type: 'deployment', id: state.id }
  const entry = { principal: principalOf(actor), action: 'deployment.override', object, reason: answer.reason, details }
  await recordAudit(tx, org_id, entry, now)
}

function principalOf({ credential: { type, id, name } }: Actor): Principal {
  return { type, id, name }
}

/** Counts an approval for every gate that takes it. True where nothing is left that has not approved. */
async function approvesAll(tx: Tx, orgId: string, asked: Asked, answer: Answer): Promise<boolean> {
  const { state, required, answers, runCredentialId } = asked
  const approved = newlyApproved(required, [...answers, answer], runCredentialId)
  await approveRequiredGates(tx, orgId, state.id, approved, answer.answered_at)
  return required.every(({ id, approved_at }) => approved_at !== null || approved.includes(id))
}

/** The wire form of an answer on a deployment. */
function toApproval(answer: Answer) {
  return {
    user_id: null,
    email: null,
    display_name: answer.principal_name,
    decision: answer.decision,
    principal: answer.principal_type,
    gates: [OWN_RULE],
    provider_account: null,
    at: answer.answered_at,
    note: noteOf(answer),
  }
}

function noteOf({ reason, comment }: Answer): string {
  return comment === null ? reason : `${reason}\n\n${comment}`
}
