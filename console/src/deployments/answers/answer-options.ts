import { asApiError } from '../../api/api-error.ts'
import type { Schema } from '../../api/client.ts'
import type { Permission } from '../../api/session.ts'
import { PERMISSION_NAMES } from '../../page/names.ts'
import type { Deployment } from '../facts/deployment-state.ts'

export const ANSWER_LABELS: Record<AnswerKind, string> = {
  approve: 'Approve',
  override: 'Override and approve',
  reject: 'Reject',
}

/** One of these is enough for an answer. An override needs both, of one person or of several. */
const NEEDED: Record<AnswerKind, [Permission, ...Permission[]]> = {
  approve: ['answer_deployment_gates'],
  override: ['override_compliance', 'answer_deployment_gates'],
  reject: ['answer_deployment_gates'],
}

const NEEDS: Record<AnswerKind, string> = {
  approve: 'To approve, you need',
  override: 'Approving against a blocking policy needs',
  reject: 'To reject, you need',
}

const REASON_MIN = 10
export const REASON_MAX = 500
export const COMMENT_MAX = 1000

const TITLES: Record<string, string> = {
  already_decided: 'The deployment was answered already',
  not_gated: 'The deployment does not wait for an answer',
  not_asked: 'The code host has not asked Shiplock',
  reviewer_gate_requires_human: 'Reviewers answer on the code host',
  run_creator_refused: 'Another person must approve',
  change_author_refused: 'Another person must approve',
  linked_account_required: 'Your account at the code host is not linked',
  run_finished: 'The run has ended',
  not_found: 'The deployment no longer exists',
  insufficient_permission: 'You do not have permission',
}

export type Decision = Schema<'DeploymentDecision'>

export type AnswerKind = 'approve' | 'override' | 'reject'

/** An answer, and why the user cannot give it. Null if they can. */
export type AnswerOption = { kind: AnswerKind; refusal: string | null }

type Answerer = { deployment: Deployment; decision: Decision; permissions: Permission[] }

/** The answers that the deployment waits for, with what keeps the user from giving them. */
export function answerOptions({ deployment, decision, permissions }: Answerer): AnswerOption[] {
  const approval = neededApproval(deployment)
  if (approval === null) return []
  const { approve, reject } = decision.refused
  return [
    { kind: approval, refusal: approve?.message ?? missingPermission(approval, permissions) },
    { kind: 'reject', refusal: reject?.message ?? missingPermission('reject', permissions) },
  ]
}

/** The approval that Shiplock's own rule waits for. Null if the deployment waits for none. */
export function neededApproval(deployment: Deployment): 'approve' | 'override' | null {
  const { status, custom_rule_state, policy_evaluation } = deployment
  if (status !== 'pending_approval' || custom_rule_state !== 'pending') return null
  return policy_evaluation?.decision === 'block' ? 'override' : 'approve'
}

/** Whether somebody can give the answer, or a part of it. */
export function canAnswer(kind: AnswerKind, permissions: Permission[]): boolean {
  return NEEDED[kind].some((permission) => permissions.includes(permission))
}

/** The permission that an answer needs first, as people read it. */
export function namePermission(kind: AnswerKind): string {
  return PERMISSION_NAMES[NEEDED[kind][0]]
}

function missingPermission(kind: AnswerKind, permissions: Permission[]): string | null {
  if (canAnswer(kind, permissions)) return null
  return `${NEEDS[kind]} the permission “${namePermission(kind)}”. An Org admin can give you a role that has it.`
}

/** What a second person has to add to an override by the user. Null if they need none. */
export function missingForOverride(permissions: Permission[]): string | null {
  const missing = NEEDED.override.find((permission) => !permissions.includes(permission))
  if (missing === undefined) return null
  return `A second person, with the permission “${PERMISSION_NAMES[missing]}”, must approve it, too.`
}

/** The rules that an approval would override. */
export function blockingPolicies({ policies }: Decision) {
  return policies
    .filter(({ decision }) => decision === 'block')
    .map(({ rules, ...policy }) => ({
      ...policy,
      rules: (rules ?? []).filter(({ blocking, status }) => blocking && (status === 'fail' || status === 'error')),
    }))
}

/** The number of characters as the server counts them. */
export function lengthOf(text: string): number {
  return [...text.trim()].length
}

/** What is wrong with the reason of an override. Null if nothing. */
export function reasonMistake(reason: string): string | null {
  const length = lengthOf(reason)
  if (length === 0) return 'State why the policies are overridden.'
  if (length < REASON_MIN) return `Write at least ${REASON_MIN} characters.`
  return length > REASON_MAX ? `Write at most ${REASON_MAX} characters.` : null
}

export type AnswerProblem = {
  title: string
  text: string
  /** Sending the answer again would not help. */
  isFinal: boolean
  /** A policy blocks the deployment now: the answer needs a reason. */
  needsReason: boolean
}

/** Why an answer was not recorded, for people. `text` describes the error in general. */
export function describeAnswerProblem(error: unknown, text: string): AnswerProblem {
  const response = asApiError(error)
  const code = response?.code ?? ''
  const problem = { text, isFinal: false, needsReason: false }
  if (code === 'fresh_sign_in_required')
    return { ...problem, title: 'Nothing was recorded', text: 'Confirm who you are, then send the answer again.' }
  if (code === 'reason_required')
    return {
      ...problem,
      title: 'A policy blocks the deployment',
      text: 'Approving it overrides the policy, which needs a reason of 10 to 500 characters.',
      needsReason: true,
    }
  const title = TITLES[code]
  if (title !== undefined) return { ...problem, title, isFinal: true }
  return { ...problem, title: 'The answer could not be recorded' }
}
