import { asApiError } from '../api/api-error.ts'

export type AnswerProblem = {
  title: string
  text: string
  /** Sending the answer again would not help. */
  isFinal: boolean
  /** A policy blocks the deployment now: the answer needs a reason. */
  needsReason: boolean
}

const TITLES: Record<string, string> = {
  already_decided: 'The deployment was answered already',
  not_gated: 'The deployment does not wait for an answer',
  reviewer_gate_requires_human: 'Reviewers answer on the code host',
  run_creator_refused: 'Another person must approve',
  run_finished: 'The run has ended',
  not_found: 'The deployment no longer exists',
  insufficient_permission: 'You do not have permission',
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
