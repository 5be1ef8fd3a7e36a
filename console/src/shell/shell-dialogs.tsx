import { useState } from 'react'
import { useShortcuts } from '../actions/shortcuts.ts'
import { lazyPart, ScriptNotice } from '../page/lazy-part.tsx'
import { openCommandPalette, shownDialog, showShortcuts } from './shown-dialog.ts'

const CommandPalette = lazyPart(async () => (await import('./command-palette.tsx')).CommandPalette, {
  failed: ({ opened }) => opened && <ScriptNotice title="The search could not be loaded" />,
})
const ShortcutOverview = lazyPart(async () => (await import('./shortcut-overview.tsx')).ShortcutOverview, {
  failed: ({ opened }) => opened && <ScriptNotice title="The list of shortcuts could not be loaded" />,
})

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
      <>
        <CommandPalette opened={dialog === 'search'} onClose={close} />
        <ShortcutOverview opened={dialog === 'shortcuts'} onClose={close} />
      </>
    )
  )
}
