import type { Tx } from '../../platform/db/sql.ts'
import { parseMessage } from '../vocabulary/message-marks.ts'
import type { EndedDismissal } from '../writing/finding-writing.store.ts'
import type { MergeScope } from '../writing/grouping.store.ts'
import { type ChangedDismissal, listChangedDismissals, listFollowing } from './dismissed-issue.store.ts'
import { listChangedMarks } from './matching/decided-marks.ts'
import { hasPairs, type Paired } from './paired.store.ts'

/** A scanner that is upgraded words a rule anew for as many findings at once. */
const REWORDED_MIN = 3

/**
 * Which dismissals by people end because the report shows something else than what was looked at.
 * To be read before the findings are written.
 */
export async function listEndedDismissals(paired: Paired): Promise<EndedDismissal[]> {
  if (!hasPairs(paired, 'changed')) return []
  const wordings = new Map<string, number>()
  const ended: (EndedDismissal & { wording: string })[] = []
  for await (const rows of listChangedDismissals(paired)) {
    for (const row of rows) {
      const wording = getWording(row)
      if (wording === null) continue
      wordings.set(wording, (wordings.get(wording) ?? 0) + 1)
    }
    ended.push(...rows.flatMap((row) => endedBy(row) ?? []))
  }
  const isUpgraded = (wording: string) => (wordings.get(wording) ?? 0) >= REWORDED_MIN
  return ended
    .map(({ wording, ...one }) =>
      isUpgraded(wording) ? { ...one, changed: one.changed.filter((mark) => mark !== 'message') } : one,
    )
    .filter(({ changed }) => changed.length > 0)
}

/**
 * A new sentence of a rule, with the one before. Null if it is the same, or names something else.
 */
function getWording({ rule_id, before, after }: ChangedDismissal): string | null {
  const [said, says] = [
    parseMessage(before.description ?? '', before.path),
    parseMessage(after.description ?? '', after.path),
  ]
  if (said.sentence === says.sentence || said.literals !== says.literals) return null
  return JSON.stringify([rule_id, said.sentence, says.sentence])
}

function endedBy(row: ChangedDismissal): (EndedDismissal & { wording: string })[] | null {
  const { finding_id, reason, scope, identity_method, is_upgraded, before, after } = row
  if (reason === null) return null
  const isAnywhere = scope === 'vulnerability'
  // Base directories that differ go in front of paths now.
  const isPrefixed = is_upgraded && before.path !== null && after.path?.endsWith(`/${before.path}`) === true
  const changed = listChangedMarks(before, after, {
    isRenamed: isAnywhere || isPrefixed || identity_method === 'file_renamed',
    isVersioned: !isAnywhere && reason === 'false_positive',
  }).filter((mark) => !(isAnywhere && mark === 'location'))
  return changed.length === 0 ? null : [{ finding_id, changed, wording: getWording(row) ?? '' }]
}

/**
 * Which dismissals of some buckets end because they only followed others with other marks, as those
 * of earlier versions did. The text of another scanner counts without its message.
 */
export async function listEndedFollowers(
  tx: Tx,
  scope: MergeScope,
  buckets: readonly string[],
): Promise<EndedDismissal[]> {
  const ended: EndedDismissal[] = []
  for await (const rows of listFollowing(tx, scope, buckets)) {
    for (const { finding_id, reason, before, after } of rows) {
      const isSameText = before.context !== null && before.context === after.context
      const marks = listChangedMarks(before, after, { isRenamed: false, isVersioned: reason === 'false_positive' })
      const changed = marks.filter((mark) => !(isSameText && mark === 'message'))
      if (changed.length > 0) ended.push({ finding_id, changed })
    }
  }
  return ended
}
