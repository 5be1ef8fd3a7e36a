import { useEffect, useRef, useSyncExternalStore } from 'react'

type Shortcut = {
  /** A key (`j`, `?`, `Escape`, `mod+k`), or two one after the other (`g r`). */
  keys: string
  /** What it does, as shown by `?`. */
  label: string
  run: () => void
}

type Group = { title: string; shortcuts: Shortcut[] }

/** How `mod` is written on this computer. */
export const MOD_KEY = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘' : 'Ctrl'

const SEQUENCE_MS = 1200
const groups = new Set<Group>()
const listeners = new Set<() => void>()
let known: Group[] = []
let first: { key: string; at: number } | null = null

/** Offers keys while the component is shown. Keys typed into fields and dialogs do not count. */
export function useShortcuts(title: string, shortcuts: Shortcut[]): void {
  const current = useRef(shortcuts)
  current.current = shortcuts
  const names = shortcuts.map(({ keys, label }) => `${keys}\n${label}`).join('\t')
  useEffect(() => {
    const group = {
      title,
      shortcuts: names
        .split('\t')
        .filter(Boolean)
        .map((name, index) => {
          const [keys = '', label = ''] = name.split('\n')
          return { keys, label, run: () => current.current[index]?.run() }
        }),
    }
    change(() => groups.add(group))
    return () => change(() => groups.delete(group))
  }, [title, names])
}

/** The shortcuts of what is on the screen, for the overview. */
export function useKnownShortcuts(): Group[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => known,
  )
}

function change(apply: () => void): void {
  apply()
  known = [...groups]
  for (const listener of listeners) listener()
}

/** Listens to the keys of the page. Called once by the shell; returns how to stop. */
export function listenToKeys(): () => void {
  document.addEventListener('keydown', onKey)
  return () => document.removeEventListener('keydown', onKey)
}

function onKey(event: KeyboardEvent): void {
  const key = nameOf(event)
  if (event.defaultPrevented || event.altKey || (isTyping(event.target) && !key.startsWith('mod+'))) return
  const sequence = first && event.timeStamp - first.at < SEQUENCE_MS ? `${first.key} ${key}` : key
  first = { key, at: event.timeStamp }
  const shortcut = find(sequence) ?? find(key)
  if (shortcut === undefined) return
  first = null
  event.preventDefault()
  shortcut.run()
}

function nameOf({ key, ctrlKey, metaKey }: KeyboardEvent): string {
  const name = key.length === 1 ? key.toLowerCase() : key
  return ctrlKey || metaKey ? `mod+${name}` : name
}

/** What was shown last is in front. */
function find(keys: string): Shortcut | undefined {
  return known.flatMap(({ shortcuts }) => shortcuts).findLast((shortcut) => shortcut.keys === keys)
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest('input:not([type=checkbox]), textarea, select, [contenteditable], [role=dialog]') !== null
  )
}
