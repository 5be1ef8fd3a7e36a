import { formatPerson } from '../../access/user.ts'
import type { HostAction } from '../../codehosts/code-host.ts'
import { findConnectionOfRepository } from '../../codehosts/connections/connection.store.ts'
import { enqueueCall } from '../../codehosts/connections/send-call.job.ts'
import { getBlockingRules, type PolicyEvaluation } from '../../compliance/policies/policy-verdict.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { toBrowserAddress } from '../../platform/loopback.ts'
import { toVisible, truncate } from '../../platform/text.ts'
import type { Services } from '../../services.ts'
import type { Awaited } from '../deployment.schema.ts'
import { type DeploymentKey, describeAwaited, type RequiredGate } from '../deployment-state.ts'
import { findDecisionTarget } from '../host/host-deployment.store.ts'
import { explainReplaced, formatOutcome, formatVersion } from '../policy-evaluation.ts'

type HostDecision = { decision: 'approved' | 'rejected'; text: string }

/** Sends the decision of our rule to the code host, once. */
export async function sendDecision(
  services: Services,
  tx: Tx,
  deployment: DeploymentKey,
  { decision, text }: HostDecision,
): Promise<void> {
  const action = { type: 'decision', decision, text } as const
  await send(services, tx, deployment, { key: getDecisionKey(deployment), action })
}

/** Posts a comment on a waiting deployment. `about` identifies it among those of the deployment. */
export async function sendComment(
  services: Services,
  tx: Tx,
  deployment: DeploymentKey,
  { about, text }: { about: string; text: string },
): Promise<void> {
  await send(services, tx, deployment, {
    key: `deployment:${deployment.id}:${about}`,
    action: { type: 'comment', text },
  })
}

/** The idempotency key of the call that sends the decision. */
export function getDecisionKey({ id }: DeploymentKey): string {
  return `deployment:${id}:decision`
}

type WithoutTarget<Action> = Action extends unknown ? Omit<Action, 'target'> : never
type TargetedAction = WithoutTarget<Extract<HostAction, { type: 'decision' | 'comment' }>>

/** Does nothing if no connection has the repository any more. */
async function send(
  { config, clock }: Services,
  tx: Tx,
  deployment: DeploymentKey,
  { key, action }: { key: string; action: TargetedAction },
): Promise<void> {
  const found = await findDecisionTarget(tx, deployment)
  if (found === null) return
  const { provider, target } = found
  const connection = await findConnectionOfRepository(tx, deployment.org_id, provider, target.repository.id)
  if (connection === null) return
  const text = formatComment(action.text, `${toBrowserAddress(config.baseUrl)}/deployments/${deployment.id}`)
  const call = {
    org_id: deployment.org_id,
    connection_id: connection.id,
    idempotency_key: key,
    subject: { type: 'deployment', id: deployment.id } as const,
    action: { ...action, text, target },
  }
  await enqueueCall(tx, call, clock.now())
}

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
  email: string | null
  reason: string | null
  comment: string | null
}

/**
 * The comment on an answer: states which person or API key answered, and quotes the reason and the
 * comment (specification, "Approve and reject rules" 1). A person is named with the address,
 * because names are chosen freely. Text of the caller is quoted line by line, so that it cannot
 * leave the quotation.
 */
export function answerText({ decision, principal_type, principal_name, email, reason, comment }: ShownAnswer): string {
  const name = `**${escapeMarkdown(email === null ? principal_name : formatPerson(principal_name, email))}**`
  const principal = principal_type === 'user' ? name : `the API key ${name}, not by a person`
  const heading = `${HEADINGS[decision]} through Shiplock by ${principal}.`
  return [heading, ...[reason, comment].filter((text) => text !== null).map(quote)].join('\n\n')
}

/** The comment on a decision that was made without an answer, such as the expiry. */
export function formatNote(decision: 'approved' | 'rejected', note: string | null): string {
  const heading = `${HEADINGS[decision]} by Shiplock.`
  return note === null ? heading : `${heading}\n\n${quote(note)}`
}

/** The comment on a decision. That on an approval says what the host still waits for. */
export function formatDecision(decision: HostDecision['decision'], text: string, awaiting: readonly Awaited[]): string {
  return awaiting.length === 0 || decision === 'rejected'
    ? text
    : `${text}\n\nThe deployment still waits for ${describeAwaited(awaiting)}.`
}

/** The comment on an approval by policies: what they say, with the result of each rule. */
export function formatPolicyApproval(evaluation: PolicyEvaluation): string {
  const rules = evaluation.policies.flatMap((policy) =>
    policy.rules.map(({ name, status }) => `- ${escapeMarkdown(`${formatVersion(policy)}: ${name}`)}: ${status}`),
  )
  return [formatNote('approved', formatOutcome(evaluation)), rules.join('\n')].join('\n\n')
}

type Waiting = { environment: string; required: RequiredGate[]; evaluation: PolicyEvaluation }

/** The comment that says what a deployment waits for. */
export function formatWaiting({ environment, required, evaluation }: Waiting): string {
  const blocked = evaluation.policies.flatMap((policy) =>
    getBlockingRules(policy).map(
      ({ name, reason }) =>
        `- The policy ${escapeMarkdown(formatVersion(policy))} blocks it: ${escapeMarkdown(reason ?? name)}`,
    ),
  )
  const open = required.filter(({ approved_at }) => approved_at === null)
  const missing = open.map((gate) => {
    const { name, required_approvals: count } = gate
    const approvals = count === 1 ? 'an approval' : `${count} approvals`
    const needs = `- The gate ${escapeMarkdown(name)} needs ${approvals}.`
    return [needs, ...explainReplaced(gate).map(escapeMarkdown)].join(' ')
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
  return toVisible(text.replace(/\s+/g, ' '))
    .replace(/[\\`*[\]<~]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\$&')
    .replace(/^ *(?=[#+>=-])/, '$&\\')
    .replace(/^( *\d+)(?=[.)])/, '$1\\')
    .replace(/@(?=[\p{L}\p{N}])/gu, `@${ZERO_WIDTH_SPACE}`)
}
