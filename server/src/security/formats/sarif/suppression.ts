import { type JsonObject, objectsOf, textOf } from '../../../platform/json/read-value.ts'
import { boundedText, COMMENT_MAX } from '../../vocabulary/bounded-text.ts'

export type Dismissal = { reason: string; comment: string | null }

/**
 * Whether the result is suppressed (§3.27.23): it has suppressions and each is accepted. A suppression without a status is
 * accepted (§3.35.3); one that is under review or rejected leaves the result open. Null when it is open.
 */
export function dismissalOf(result: JsonObject): Dismissal | null {
  const suppressions = objectsOf(result.suppressions)
  const first = suppressions[0]
  if (first === undefined || !suppressions.every(isAccepted)) return null
  const justification = suppressions
    .map((suppression) => textOf(suppression.justification))
    .find((text) => text !== null)
  return {
    reason: first.kind === 'inSource' ? 'suppressed_in_source' : 'suppressed_externally',
    comment: boundedText(justification ?? null, COMMENT_MAX),
  }
}

function isAccepted(suppression: JsonObject): boolean {
  return suppression.status === undefined || suppression.status === null || suppression.status === 'accepted'
}
