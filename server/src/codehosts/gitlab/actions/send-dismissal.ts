import { Type } from 'typebox'
import { shortened } from '../../../platform/shortened.ts'
import { type HostAction, HostRefusal } from '../../code-host.ts'
import type { DismissReason } from '../../host-alert.ts'
import { Maybe, readAs, Text } from '../../kit/payload.ts'
import type { Session } from '../client/session.ts'

/** GitLab's word for each of our reasons. Some share the nearest one. */
const WORDS: Readonly<Record<DismissReason, string>> = {
  false_positive: 'FALSE_POSITIVE',
  inaccurate: 'FALSE_POSITIVE',
  used_in_tests: 'USED_IN_TESTS',
  not_used: 'NOT_APPLICABLE',
  revoked: 'MITIGATING_CONTROL',
  mitigated: 'MITIGATING_CONTROL',
  wont_fix: 'ACCEPTABLE_RISK',
  tolerable_risk: 'ACCEPTABLE_RISK',
  no_capacity: 'ACCEPTABLE_RISK',
  risk_accepted: 'ACCEPTABLE_RISK',
}

const COMMENT_CHARS_MAX = 50_000

const DISMISS = `mutation($id: VulnerabilityID!, $comment: String, $reason: VulnerabilityDismissalReason) {
  result: vulnerabilityDismiss(input: { id: $id, comment: $comment, dismissalReason: $reason }) { errors }
}`

const REVERT = `mutation($id: VulnerabilityID!) {
  result: vulnerabilityRevertToDetected(input: { id: $id }) { errors }
}`

/** The REST API takes neither the reason nor the comment. Repeating it has no further effect. */
export function sendDismissal(
  session: Session,
  { alert, reason, comment }: Extract<HostAction, { type: 'dismissal' }>,
): Promise<void> {
  const text = comment === null ? null : shortened(comment, COMMENT_CHARS_MAX)
  return mutate(session, DISMISS, { id: idOf(alert.number), comment: text, reason: wordOf(reason) })
}

/** Opens a dismissed vulnerability again. Repeating it has no further effect. */
export function sendReopening(session: Session, { alert }: Extract<HostAction, { type: 'reopening' }>): Promise<void> {
  return mutate(session, REVERT, { id: idOf(alert.number) })
}

/** A reason that is a word of GitLab stays: the vulnerability was dismissed there before. */
function wordOf(reason: string): string {
  if (Object.hasOwn(WORDS, reason)) return WORDS[reason as DismissReason]
  const word = reason.toUpperCase()
  return Object.values(WORDS).includes(word) ? word : WORDS.wont_fix
}

function idOf(number: number): string {
  return `gid://gitlab/Vulnerability/${number}`
}

const Result = Type.Object({ result: Maybe(Type.Object({ errors: Maybe(Type.Array(Text)) })) })

async function mutate({ api }: Session, query: string, variables: Record<string, unknown>): Promise<void> {
  const { result } = readAs(Result, await api.query(query, variables))
  const [error] = result?.errors ?? []
  if (!result || error !== undefined)
    throw new HostRefusal(409, `GitLab did not change the vulnerability: ${error ?? 'it does not exist'}.`)
}
