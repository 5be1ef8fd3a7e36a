import { getBlockingRules, type PolicyEvaluation } from '../../compliance/policies/policy-verdict.ts'
import { truncate } from '../../platform/truncate.ts'
import type { RequiredGate } from '../deployment-state.ts'

/** Hosts show comments of protection rules in a narrow panel. */
const COMMENT_CHARS_MAX = 1000

/** Bounds a Markdown comment and adds the link to the deployment. */
export function formatComment(text: string, url: string): string {
  const link = `\n\n[Open the deployment in Shiplock](${url})`
  return truncate(text, COMMENT_CHARS_MAX - link.length) + link
}

const HEADINGS = { approved: 'Approved', rejected: 'Rejected' }

type ShownAnswer = {
  decision: 'approved' | 'rejected'
  principal_type: 'api_key' | 'user'
  principal_name: string
  reason: string | null
  comment: string | null
}

/**
 * The comment on an answer: states which person or API key answered, and quotes the reason and the
 * comment (specification, "Approve and reject rules" 1). Text of the caller is quoted line by line,
 * so that it cannot leave the quotation.
 */
export function answerText({ decision, principal_type, principal_name, reason, comment }: ShownAnswer): string {
  const name = `**${escapeMarkdown(principal_name)}**`
  const principal = principal_type === 'user' ? name : `the API key ${name}, not by a person`
  const heading = `${HEADINGS[decision]} through Shiplock by ${principal}.`
  return [heading, ...[reason, comment].filter((text) => text !== null).map(quote)].join('\n\n')
}

/** The comment on a decision that was made without an answer, such as the expiry. */
export function formatNote(decision: 'approved' | 'rejected', note: string | null): string {
  const heading = `${HEADINGS[decision]} by Shiplock.`
  return note === null ? heading : `${heading}\n\n${quote(note)}`
}

/** The comment on an approval by policies, with the result of each rule. */
export function formatPolicyApproval({ policies }: PolicyEvaluation): string {
  const rules = policies.flatMap((policy) =>
    policy.rules.map(({ name, status }) => `- ${escapeMarkdown(`${policy.name}: ${name}`)}: ${status}`),
  )
  const names = policies.map(({ name }) => `**${escapeMarkdown(name)}**`).join(', ')
  return [`Approved by Shiplock: all policies pass (${names}).`, rules.join('\n')].join('\n\n')
}

type Waiting = { environment: string; required: RequiredGate[]; evaluation: PolicyEvaluation }

/** The comment that says what a deployment waits for. */
export function formatWaiting({ environment, required, evaluation }: Waiting): string {
  const blocked = evaluation.policies.flatMap((policy) =>
    getBlockingRules(policy).map(
      ({ name, reason }) => `- The policy ${escapeMarkdown(policy.name)} blocks it: ${escapeMarkdown(reason ?? name)}`,
    ),
  )
  const open = required.filter(({ approved_at }) => approved_at === null)
  const missing = open.map(({ name, required_approvals: count }) => {
    const approvals = count === 1 ? 'an approval' : `${count} approvals`
    return `- The gate ${escapeMarkdown(name)} needs ${approvals}.`
  })
  const uncovered = `- No gate covers the environment ${escapeMarkdown(environment)}. A person must approve or reject it.`
  const reasons = required.length === 0 ? [...blocked, uncovered] : [...blocked, ...missing]
  return ['Shiplock holds this deployment.', reasons.join('\n')].join('\n\n')
}

function quote(text: string): string {
  return text
    .split(/\r\n|\r|\n/)
    .map((line) => `> ${escapeMarkdown(line)}`)
    .join('\n')
}

const ZERO_WIDTH_SPACE = '\u200B'

/**
 * Makes one line of foreign text appear as it is. What has a meaning only at the start of a line or
 * of a word is escaped only there, so that names and reasons stay readable. A zero-width space
 * keeps `@name` from notifying somebody.
 */
function escapeMarkdown(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/[\\`*[\]<~]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\$&')
    .replace(/^ *(?=[#+>=-])/, '$&\\')
    .replace(/^( *\d+)(?=[.)])/, '$1\\')
    .replace(/@(?=[\p{L}\p{N}])/gu, `@${ZERO_WIDTH_SPACE}`)
}
