import { lazy, Suspense, useState } from 'react'
import { useShortcuts } from '../actions/shortcuts.ts'
import { openCommandPalette, shownDialog, showShortcuts } from './shown-dialog.ts'

const CommandPalette = lazy(async () => ({ default: (await import('./command-palette.tsx')).CommandPalette }))
const ShortcutOverview = lazy(async () => ({ default: (await import('./shortcut-overview.tsx')).ShortcutOverview }))

const close = () => shownDialog.set(null)

/** The dialogs of the shell. They are loaded when one of them is opened for the first time. */
export function ShellDialogs() {
  const dialog = shownDialog.use()
  const [wasOpened, setWasOpened] = useState(false)
  if (dialog !== null && !wasOpened) setWasOpened(true)
  useShortcuts('General', [
    { keys: 'mod+k', label: 'Search', run: openCommandPalette },
    { keys: '?', label: 'Keyboard shortcuts', run: showShortcuts },
  ])
  return (
    wasOpened && (
      <Suspense>
        <CommandPalette opened={dialog === 'search'} onClose={close} />
        <ShortcutOverview opened={dialog === 'shortcuts'} onClose={close} />
      </Suspense>
    )
  )
}
