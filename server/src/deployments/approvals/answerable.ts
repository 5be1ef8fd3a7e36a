import { ApiError } from '../../platform/http/errors.ts'
import { awaitsReviewers, type DeploymentState, isWaiting } from '../deployment-state.ts'
import type { RequiredGate } from '../required-gate.store.ts'
import { type Answerer, takesAnswer } from './gate-approval.ts'

export type Answerable = { state: DeploymentState; required: RequiredGate[]; hasAnswered: boolean }

/**
 * Refuses an answer of an API key that nothing waits for, or that only a person may give (specification, "Approve and
 * reject rules" 1 and 3). Throws 409 `not_gated`, `already_decided`, `reviewer_gate_requires_human`, `run_creator_refused`.
 */
export function refuseUnanswerable({ state, required, hasAnswered }: Answerable, answerer: Answerer, now: Date): void {
  if (!isWaiting(state, now)) throw awaitsReviewers(state) ? requiresHuman() : nothingWaits(state)
  if (required.length > 0)
    refuseUnwilling(
      required.filter((gate) => !gate.approved_at),
      answerer,
      hasAnswered,
    )
  else if (hasAnswered) throw alreadyDecided('This key has answered the deployment already.')
}

function refuseUnwilling(open: RequiredGate[], answerer: Answerer, hasAnswered: boolean): void {
  if (open.some((gate) => takesAnswer(gate, answerer))) {
    if (hasAnswered) throw alreadyDecided('This key has answered the deployment already; another one has to.')
    return
  }
  if (open.some((gate) => takesAnswer(gate, { ...answerer, isRunCreator: false }))) throw runCreatorRefused()
  throw requiresHuman()
}

function nothingWaits({ gated, custom_rule_state, status: stored }: DeploymentState): ApiError {
  const status = stored === 'pending_approval' ? 'expired' : stored
  if (gated && custom_rule_state !== null) return alreadyDecided(`The deployment is ${status}.`, { status })
  return new ApiError(409, 'not_gated', "The deployment does not wait for the service's own rule.")
}

function alreadyDecided(message: string, details = {}): ApiError {
  return new ApiError(409, 'already_decided', message, details)
}

function requiresHuman(): ApiError {
  return new ApiError(
    409,
    'reviewer_gate_requires_human',
    'What the deployment still waits for, only a person can answer.',
  )
}

function runCreatorRefused(): ApiError {
  const message = 'The gate takes no answer from the credential that reported the run.'
  return new ApiError(409, 'run_creator_refused', message)
}
