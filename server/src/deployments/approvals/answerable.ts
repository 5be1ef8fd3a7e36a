import {
  alreadyDecided,
  changeAuthorRefused,
  gateNotConfigured,
  linkedAccountRequired,
  notAsked,
  notGated,
  reasonRequired,
  reviewerGateRequiresHuman,
  runCreatorRefused,
} from '../../errors/deployments.ts'
import type { ApiError } from '../../platform/http/api-error.ts'
import {
  type DeploymentState,
  describeAwaited,
  isAwaitingReviewers,
  isWaiting,
  type RequiredGate,
} from '../deployment-state.ts'
import type { Answer } from './answer.store.ts'
import type { Looseners } from './list-looseners.ts'

/** A deployment with everything that determines who can answer it. */
export type AnswerContext = {
  state: DeploymentState
  required: RequiredGate[]
  answers: Answer[]
  openers: Openers
}

/** Who opened a deployment, and who loosened what guards it. */
export type Openers = Looseners & {
  /** The API keys and trusts that created the run, wrote to it, or opened the gate. */
  credential_ids: string[]
  /** The users who created one of these credentials. */
  creator_ids: string[]
  /** Users whose account on the code host started the run or created the deployment. */
  starter_ids: string[]
  /** Users without a linked account on the code host where somebody started the run. */
  unlinked_ids: string[]
}

const REASON_CHARS_MIN = 10
const REASON_CHARS_MAX = 500

/**
 * Returns the trimmed reason (specification, "Approve and reject rules" 5). Throws 400
 * `reason_required`.
 */
export function requireReason(reason: string | null | undefined): string {
  const trimmed = reason?.trim() ?? ''
  const chars = [...trimmed].length
  if (chars >= REASON_CHARS_MIN && chars <= REASON_CHARS_MAX) return trimmed
  throw reasonRequired(REASON_CHARS_MIN, REASON_CHARS_MAX)
}

/** An answer, as far as it determines whether it can be given. */
type Answering = Pick<Answer, 'principal_type' | 'principal_id' | 'person_id' | 'decision'>

/** An answer that is being given, with the scopes of its key; a person has none. */
export type GivenAnswering = Answering & { scopes: readonly string[] }

const ANSWER = 'answer_deployment_gates'

/** What an override needs, of one person or of several. */
export const OVERRIDE_PERMISSIONS = [ANSWER, 'override_compliance'] as const

/** The scope that opens gates. */
const OPENING_SCOPE = 'write:ci'

/**
 * Refuses an answer that the deployment does not wait for, or that the principal may not give
 * (specification, "Approve and reject rules" 1 and 3). Throws 409 `not_gated`, `not_asked`,
 * `already_decided`, `reviewer_gate_requires_human`, `gate_not_configured`, `run_creator_refused`,
 * `change_author_refused` or `linked_account_required`.
 */
export function checkAnswerable(context: AnswerContext, given: GivenAnswering, now: Date): void {
  const { state, required, answers, openers } = context
  if (!isWaiting(state, now)) throw isAwaitingReviewers(state) ? requiresHuman(given) : notWaiting(state)
  if (state.host === null && given.scopes.includes(OPENING_SCOPE)) throw writerRefused()
  if (required.length > 0) requireOpenGate(context, given)
  else if (given.principal_type === 'api_key')
    throw gateNotConfigured(`No configured gate covers ${state.environment}, so only a person can answer.`)
  else if (given.decision === 'approved' && isOpener(given, openers)) throw openerRefused(given)
  else if (given.decision === 'approved' && hasLoosened(given, openers)) throw changeAuthorRefused()
  if (answers.some(({ principal_id }) => principal_id === given.principal_id)) throw alreadyAnswered(given)
}

/** Throws unless an open gate accepts the answer. */
function requireOpenGate({ required, answers, openers }: AnswerContext, given: Answering): void {
  const waiting = required.filter(({ approved_at }) => approved_at === null)
  // All were approved, and policies have blocked it since: an override opens it.
  const open = waiting.length > 0 ? waiting : required
  const accepting = open.filter((gate) => acceptsAnswer(gate, given, openers))
  if (accepting.length === 0) {
    if (!open.some((gate) => acceptsAnswer(gate, given, NOBODY))) throw requiresHuman(given)
    const isOnlyLoosener = open.some((gate) => acceptsAnswer(gate, given, { ...openers, ...NO_LOOSENERS }))
    if (isOnlyLoosener) throw changeAuthorRefused()
    const isOnlyUnlinked = open.some((gate) => acceptsAnswer(gate, given, { ...openers, unlinked_ids: [] }))
    throw isOnlyUnlinked ? linkedAccountRequired() : openerRefused(given)
  }
  const countsNow = accepting.some((gate) => !getApprovers(gate, answers, openers).has(getVoter(given)))
  if (given.decision === 'approved' && !countsNow) throw alreadyAnswered(given)
}

const NO_LOOSENERS: Looseners = { loosener_ids: [], strict_loosener_ids: [] }
const NOBODY: Openers = { credential_ids: [], creator_ids: [], starter_ids: [], unlinked_ids: [], ...NO_LOOSENERS }

/**
 * API keys may answer only where the gate allows them. Who opened the deployment may answer only
 * where the gate allows that. Every person may reject.
 */
function acceptsAnswer(gate: RequiredGate, given: Answering, openers: Openers): boolean {
  const { principal_type, decision } = given
  if (principal_type === 'api_key' && !gate.allow_api_keys) return false
  if (principal_type === 'user' && decision === 'rejected') return true
  const isUnlinked = isAmong(given, openers.unlinked_ids)
  if (gate.require_linked_accounts && isUnlinked && decision === 'approved') return false
  if (decision === 'approved' && hasLoosenedStrict(given, openers)) return false
  if (gate.allow_run_creator) return true
  return !isOpener(given, openers) && (decision === 'rejected' || !hasLoosened(given, openers))
}

/** True if the person, or the person who created the key, moved the goalposts. */
function hasLoosened(given: Answering, openers: Openers): boolean {
  return isAmong(given, openers.loosener_ids) || hasLoosenedStrict(given, openers)
}

/** The same for a gate that did not let openers in: such a change never counts. */
function hasLoosenedStrict(given: Answering, { strict_loosener_ids }: Openers): boolean {
  return isAmong(given, strict_loosener_ids)
}

function isAmong({ person_id }: Answering, ids: readonly string[]): boolean {
  return person_id !== null && ids.includes(person_id)
}

/** True if the principal, or the person who created the key, opened the deployment. */
export function isOpener(given: Answering, openers: Openers): boolean {
  const isPerson = isAmong(given, openers.creator_ids) || isAmong(given, openers.starter_ids)
  return openers.credential_ids.includes(given.principal_id) || isPerson
}

const COMMAND_LINE = 'command line'

/**
 * Whose approval an answer is: a person and the API keys that they created are one, and so are all
 * keys that were created at the command line.
 */
function getVoter({ person_id }: Answering): string {
  return person_id ?? COMMAND_LINE
}

/** The approvals that count for the gate. */
function selectApprovals(gate: RequiredGate, answers: Answer[], openers: Openers): Answer[] {
  return answers.filter((answer) => answer.decision === 'approved' && acceptsAnswer(gate, answer, openers))
}

/** Whose approval counts for the gate: people, and the command line. */
export function getApprovers(gate: RequiredGate, answers: Answer[], openers: Openers): Set<string> {
  return new Set(selectApprovals(gate, answers, openers).map(getVoter))
}

/** True if the approval is by who opened the deployment or moved its goalposts. */
export function isSelfApproval(answer: Answer, openers: Openers): boolean {
  return answer.decision === 'approved' && (isOpener(answer, openers) || hasLoosened(answer, openers))
}

/** True if such an approval counts for one of the gates. */
export function isSelfApproved(gates: RequiredGate[], answers: Answer[], openers: Openers): boolean {
  return gates.some((gate) => selectApprovals(gate, answers, openers).some((answer) => isSelfApproval(answer, openers)))
}

/**
 * Ids of the open gates that have approvals by the required number of people and keys. With
 * `overrides`, a policy blocks: the approvals together need both permissions. Otherwise only those
 * count that were given with the permission to answer.
 */
export function selectApprovedGates(
  { required, answers, openers }: Omit<AnswerContext, 'state'>,
  overrides: boolean,
): string[] {
  const isApproved = (gate: RequiredGate) => {
    const approvals = selectApprovals(gate, answers, openers)
    // Answers from before permissions were stored were given with the one that was needed.
    const counted = overrides ? approvals : approvals.filter(({ permissions }) => permissions?.includes(ANSWER) ?? true)
    const isEnough = new Set(counted.map(getVoter)).size >= gate.required_approvals
    return isEnough && (!overrides || canOverride(counted))
  }
  return required.filter((gate) => gate.approved_at === null && isApproved(gate)).map(({ id }) => id)
}

/** True if these approvals together may override what a policy blocks (decisions §9). */
export function canOverride(approvals: readonly Answer[]): boolean {
  const held = approvals.flatMap(({ permissions }) => permissions ?? [])
  return OVERRIDE_PERMISSIONS.every((permission) => held.includes(permission))
}

function notWaiting({ gated, custom_rule_state: rule, status: stored, awaiting }: DeploymentState): ApiError {
  if (stored === 'pending_approval' && rule === null) return notAsked(awaiting, describeAwaited(awaiting))
  if (stored === 'pending_approval' && rule !== 'pending')
    return alreadyDecided(`Shiplock's rule is ${rule}. The deployment waits for ${describeAwaited(awaiting)}.`, {
      status: stored,
    })
  const status = stored === 'pending_approval' ? 'expired' : stored
  return gated ? alreadyDecided(`The deployment is ${status}.`, { status }) : notGated()
}

function alreadyAnswered({ principal_type, person_id }: Answering): ApiError {
  if (principal_type === 'user')
    return alreadyDecided('You have already answered this deployment, in person or with an API key that you created.')
  const others = person_id === null ? 'that was created at the command line' : 'of the same person'
  return alreadyDecided(`This key, or another key ${others}, has already answered the deployment.`)
}

function writerRefused(): ApiError {
  const message = `A key with the scope ${OPENING_SCOPE} opens gates and answers none. Use a key without it, or answer as a person.`
  return runCreatorRefused(message, { reason: 'WRITE_CI' })
}

function requiresHuman({ principal_type }: Answering): ApiError {
  const message =
    principal_type === 'user'
      ? 'The deployment waits for the reviewers that the code host requires. They answer on the code host.'
      : 'Only a person can answer the remaining gates of this deployment.'
  return reviewerGateRequiresHuman(message)
}

function openerRefused({ principal_type }: Answering): ApiError {
  const message =
    principal_type === 'user'
      ? 'You opened this deployment or started its run. Another person must approve it.'
      : 'The gate does not accept the keys that wrote to the run, or other keys of the same person. Use the key of another.'
  return runCreatorRefused(message)
}
