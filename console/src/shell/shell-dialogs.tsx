import { lazy, Suspense, useState } from 'react'
import { useShortcuts } from '../actions/shortcuts.ts'
import { createStore } from '../actions/store.ts'

const CommandPalette = lazy(async () => ({ default: (await import('./command-palette.tsx')).CommandPalette }))
const ShortcutOverview = lazy(async () => ({ default: (await import('./shortcut-overview.tsx')).ShortcutOverview }))

/** Which dialog of the shell is open. */
const shownDialog = createStore<'search' | 'shortcuts' | null>(null)

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

/** Opens the search for pages, repositories and actions. */
export function openCommandPalette(): void {
  shownDialog.set('search')
}

/** Opens the list of keyboard shortcuts. */
export function showShortcuts(): void {
  shownDialog.set('shortcuts')
}
