import { insertAuditEntry, type Principal } from '../../audit/audit.store.ts'
import { getBlockingRules, type PolicyEvaluation } from '../../compliance/policies/policy-verdict.ts'
import type { Tx } from '../../platform/db/sql.ts'
import type { Services } from '../../services.ts'
import { auditOutcome, decideDeployment } from '../decisions/decide-deployment.ts'
import { answerText, sendComment } from '../decisions/send-to-host.ts'
import type { DeploymentStatus } from '../deployment.schema.ts'
import {
  deleteEvaluation,
  insertApproval,
  updateEvaluation,
  updateGatesApproved,
  updateOverride,
  updateSelfApproved,
} from '../deployment-state.store.ts'
import { createDecidedOutcome, OWN_RULE } from '../deployment-state.ts'
import { isShown, toStoredEvaluation } from '../policy-evaluation.ts'
import { type Answer, insertAnswer } from './answer.store.ts'
import {
  type AnswerContext,
  canOverride,
  isOpener,
  isSelfApproval,
  isSelfApproved,
  selectApprovedGates,
} from './answerable.ts'

/** An answer with what the deployment shows of the user. Both are null for an API key. */
export type SignedAnswer = Answer & {
  email: string | null
  /** The linked account of the user on the code host of the deployment. */
  provider_account: { provider: string; login: string } | null
}

type Answering = { answer: SignedAnswer; evaluation: PolicyEvaluation | null }

/**
 * Stores an allowed answer with its audit entries, decides the deployment if the answer is the last
 * one required, and sends it to the code host: a decision with the answer as its comment, or else
 * only the comment. The deployment is locked. Returns its status.
 */
export async function recordAnswer(
  services: Services,
  tx: Tx,
  context: AnswerContext,
  { answer, evaluation }: Answering,
): Promise<DeploymentStatus> {
  const { state } = context
  const { decision, reason, answered_at: now } = answer
  await insertAnswer(tx, state, answer)
  const isBlocked = evaluation?.decision === 'block'
  await insertApproval(tx, state, { ...toApproval(answer, context), ...(isBlocked && { blocked: true }) }, now)
  await auditOutcome(tx, state, { principal: toPrincipal(answer), outcome: decision, reason }, now)
  if (evaluation) await recordEvaluation(tx, context, evaluation, now)
  const isLast = decision === 'rejected' || (await approveGates(tx, context, answer, isBlocked))
  if (isLast && isBlocked) await recordOverride(tx, context, answer, evaluation)
  if (!isLast) {
    await sendComment(services, tx, state, { about: `answer:${answer.id}`, text: answerText(answer) })
    return state.status
  }
  const outcome = createDecidedOutcome(decision, `${answer.principal_type}:${answer.principal_name}`, toNote(answer))
  return decideDeployment(services, tx, state, { ...outcome, comment: answerText(answer) })
}

/** Stores the evaluation that the answer was given after. */
async function recordEvaluation(
  tx: Tx,
  { state }: AnswerContext,
  evaluation: PolicyEvaluation,
  now: Date,
): Promise<void> {
  if (isShown(evaluation)) await updateEvaluation(tx, state, toStoredEvaluation(evaluation, null), now)
  else await deleteEvaluation(tx, state, now)
}

/** Stores that the answer, with those before it, goes against the evaluation. */
async function recordOverride(
  tx: Tx,
  { state, answers, openers }: AnswerContext,
  answer: SignedAnswer,
  evaluation: PolicyEvaluation,
): Promise<void> {
  const { reason, answered_at: now } = answer
  const others = answers.filter(({ decision }) => decision === 'approved')
  const isSelfOverride = [answer, ...others].some((each) => isOpener(each, openers))
  const details = toOverride(answer, others, evaluation, isSelfOverride)
  await updateOverride(tx, state, details, now)
  const object = { type: 'deployment', id: state.id }
  const entry = { principal: toPrincipal(answer), action: 'deployment.override', object, reason, details }
  await insertAuditEntry(tx, state.org_id, entry, now)
}

/** Approves the required gates that now have enough approvals. Returns true if all are approved. */
async function approveGates(tx: Tx, context: AnswerContext, answer: Answer, overrides: boolean): Promise<boolean> {
  const { state, required, openers } = context
  const answers = [...context.answers, answer]
  const approvals = answers.filter(({ decision }) => decision === 'approved')
  if (required.length === 0) return !overrides || canOverride(approvals)
  const approved = selectApprovedGates({ required, answers, openers }, overrides)
  const gates = required.filter(({ id }) => approved.includes(id))
  await updateGatesApproved(tx, state, gates, { at: answer.answered_at, by: 'principals' })
  if (isSelfApproved(gates, answers, openers)) await updateSelfApproved(tx, state, answer.answered_at)
  const isApproved = required.every(({ id, approved_at }) => approved_at !== null || approved.includes(id))
  return isApproved && (!overrides || gates.length > 0 || canOverride(approvals))
}

function toPrincipal({ principal_type, principal_id, principal_name }: Answer): Principal {
  return { type: principal_type, id: principal_id, name: principal_name }
}

/** Converts an answer to its wire form in a deployment's `approvals`. */
function toApproval(answer: SignedAnswer, { openers }: AnswerContext) {
  return {
    ...shownPrincipal(answer),
    decision: answer.decision,
    principal: answer.principal_type,
    gates: [OWN_RULE],
    provider_account: answer.provider_account,
    at: answer.answered_at,
    note: toNote(answer),
    self_approved: isSelfApproval(answer, openers),
  }
}

function shownPrincipal({ principal_type, principal_id, email, principal_name }: SignedAnswer) {
  return { user_id: principal_type === 'user' ? principal_id : null, email, display_name: principal_name }
}

function toNote({ reason, comment }: Answer): string | null {
  return [reason, comment].filter((text) => text !== null).join('\n\n') || null
}

/** Converts an approval against blocking policies to the wire form of a deployment's `override`. */
function toOverride(answer: SignedAnswer, others: Answer[], evaluation: PolicyEvaluation, isSelfOverride: boolean) {
  const blocking = evaluation.policies.filter((policy) => policy.decision === 'block')
  return {
    at: answer.answered_at,
    ...shownPrincipal(answer),
    reason: answer.reason,
    self_override: isSelfOverride,
    ...(others.length > 0 && { with: others.map(({ principal_name }) => principal_name) }),
    gates: [OWN_RULE],
    evaluation_id: evaluation.evaluation_id,
    evaluated_at: evaluation.at,
    policies: blocking.map((policy) => ({
      id: policy.id,
      name: policy.name,
      version: policy.version,
      decision: policy.decision,
      rules: getBlockingRules(policy).map(({ rule, name, status, reason }) => ({ rule, name, status, reason })),
    })),
  }
}
