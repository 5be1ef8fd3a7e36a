import type { HostAction, HostClient } from '../../code-host.ts'
import type { Session } from '../client/session.ts'
import { sendCommitStatus } from './send-commit-status.ts'
import { sendComment, sendDecision } from './send-decision.ts'
import { sendDismissal, sendReopening } from './send-dismissal.ts'

type Send<Type extends HostAction['type']> = (
  session: Session,
  action: Extract<HostAction, { type: Type }>,
) => Promise<void>

const SENDERS: { readonly [Type in HostAction['type']]: Send<Type> } = {
  decision: sendDecision,
  comment: sendComment,
  dismissal: sendDismissal,
  reopening: sendReopening,
  commit_status: sendCommitStatus,
}

export function act(session: Session): HostClient['act'] {
  return (action) => (SENDERS[action.type] as Send<HostAction['type']>)(session, action as never)
}
