import { Button } from '@mantine/core'
import { useShortcuts } from '../../actions/shortcuts.ts'
import type { Target, TargetType } from './targets.ts'
import type { Triage } from './use-triage.tsx'

type TriageButtonsProps = { triage: Triage; type: TargetType; target: Target }

/** Dismisses or reopens what a page shows, also with the keys d, e and u. */
export function TriageButtons({ triage, type, target }: TriageButtonsProps) {
  const targets = { type, items: [target] }
  const { isAllowed, dismiss, reopen, undoLast, dialog } = triage
  useShortcuts(
    'Triage',
    isAllowed
      ? [
          { keys: 'd', label: `Dismiss the ${type}`, run: () => dismiss(targets) },
          { keys: 'e', label: `Reopen the ${type}`, run: () => reopen(targets) },
          { keys: 'u', label: 'Undo the last triage', run: undoLast },
        ]
      : [],
  )
  if (!isAllowed) return null
  return (
    <>
      {target.isOpen && (
        <Button aria-keyshortcuts="d" onClick={() => dismiss(targets)}>
          Dismiss
        </Button>
      )}
      {target.isDismissed && (
        <Button variant="default" aria-keyshortcuts="e" onClick={() => reopen(targets)}>
          Reopen
        </Button>
      )}
      {dialog}
    </>
  )
}
