import { ApiError } from '../../platform/http/errors.ts'
import { awaitsReviewers, type DeploymentState, isWaiting, type RequiredGate } from '../deployment-state.ts'
import type { Answer } from './answer.store.ts'

/**
 * A deployment with everything that determines who can answer it. `runCredentialId` reported the
 * run.
 */
export type AnswerContext = {
  state: DeploymentState
  required: RequiredGate[]
  answers: Answer[]
  runCredentialId: string | null
}

const REASON_CHARS_MIN = 10
const REASON_CHARS_MAX = 500

/**
 * Returns the trimmed reason of an API key (specification, "Approve and reject rules" 5). Throws
 * 400 `reason_required`.
 */
export function requireReason(reason: string | undefined): string {
  const trimmed = reason?.trim() ?? ''
  const chars = [...trimmed].length
  if (chars >= REASON_CHARS_MIN && chars <= REASON_CHARS_MAX) return trimmed
  const message = `Send a reason of ${REASON_CHARS_MIN} to ${REASON_CHARS_MAX} characters.`
  throw new ApiError(400, 'reason_required', message, { minLength: REASON_CHARS_MIN, maxLength: REASON_CHARS_MAX })
}

type Principal = Pick<Answer, 'principal_type' | 'principal_id'>

/**
 * Refuses an answer that the deployment does not wait for, or that the principal may not give
 * (specification, "Approve and reject rules" 1 and 3). Throws 409 `not_gated`, `already_decided`,
 * `reviewer_gate_requires_human`, `gate_not_configured` or `run_creator_refused`.
 */
export function refuseUnanswerable(context: AnswerContext, principal: Principal, now: Date): void {
  const { state, required, answers } = context
  if (!isWaiting(state, now)) throw awaitsReviewers(state) ? requiresHuman() : notWaiting(state)
  if (required.length > 0) requireOpenGate(context, principal)
  else if (principal.principal_type === 'api_key') throw notConfigured(state)
  if (answers.some(({ principal_id }) => principal_id === principal.principal_id))
    throw alreadyDecided('This key has already answered the deployment.')
}

/** Throws unless an open gate accepts an answer of this principal. */
function requireOpenGate({ required, runCredentialId }: AnswerContext, principal: Principal): void {
  const open = required.filter(({ approved_at }) => approved_at === null)
  // Another answer decided the deployment after its state was read.
  if (open.length === 0) throw alreadyDecided('All gates of the deployment are approved.')
  if (open.some((gate) => acceptsAnswer(gate, principal, runCredentialId))) return
  const isRefusedAsCreator = open.some((gate) => acceptsAnswer(gate, principal, null))
  throw isRefusedAsCreator ? runCreatorRefused() : requiresHuman()
}

/**
 * Users may always answer; API keys and the credential that reported the run only where the gate
 * allows it.
 */
function acceptsAnswer(gate: RequiredGate, principal: Principal, runCredentialId: string | null): boolean {
  const { principal_type, principal_id } = principal
  const isAllowedType = principal_type === 'user' || gate.allow_api_keys
  return isAllowedType && (principal_id !== runCredentialId || gate.allow_run_creator)
}

/** Ids of the open gates that have enough approvals by different principals. */
export function newlyApproved(gates: RequiredGate[], answers: Answer[], runCredentialId: string | null): string[] {
  const approvals = answers.filter(({ decision }) => decision === 'approved')
  const countOf = (gate: RequiredGate) =>
    approvals.filter((answer) => acceptsAnswer(gate, answer, runCredentialId)).length
  return gates.filter((gate) => !gate.approved_at && countOf(gate) >= gate.required_approvals).map(({ id }) => id)
}

function notWaiting({ gated, custom_rule_state, status: stored }: DeploymentState): ApiError {
  const status = stored === 'pending_approval' ? 'expired' : stored
  if (gated && custom_rule_state !== null) return alreadyDecided(`The deployment is ${status}.`, { status })
  return new ApiError(409, 'not_gated', "The deployment does not wait for the service's own protection rule.")
}

function alreadyDecided(message: string, details = {}): ApiError {
  return new ApiError(409, 'already_decided', message, details)
}

function requiresHuman(): ApiError {
  const message = 'Only a person can answer the remaining gates of this deployment.'
  return new ApiError(409, 'reviewer_gate_requires_human', message)
}

function notConfigured({ environment }: DeploymentState): ApiError {
  const message = `No configured gate covers ${environment}, so only a person can answer.`
  return new ApiError(409, 'gate_not_configured', message)
}

function runCreatorRefused(): ApiError {
  const message = 'The gate does not accept the key that created the run. Use another key.'
  return new ApiError(409, 'run_creator_refused', message)
}
