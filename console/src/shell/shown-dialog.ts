import { createStore } from '../api/store.ts'

/** Which dialog of the shell is open. */
export const shownDialog = createStore<'search' | 'shortcuts' | null>(null)

/** Opens the search for pages, repositories and actions. */
export function openCommandPalette(): void {
  shownDialog.set('search')
}

/** Opens the list of keyboard shortcuts. */
export function showShortcuts(): void {
  shownDialog.set('shortcuts')
}
