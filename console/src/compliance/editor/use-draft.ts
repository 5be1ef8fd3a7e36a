import { useState } from 'react'

/** A file as it was read: a version, 0 for a new policy. */
export type PolicyBase = { version: number; file: string }

export type Draft = {
  text: string
  setText: (text: string) => void
  /** The version that the text was edited from. */
  base: PolicyBase
  /** Goes on from another version. */
  rebase: (base: PolicyBase) => void
  isChanged: boolean
  /** The text was kept from an earlier visit. */
  isRestored: boolean
  discard: (base: PolicyBase) => void
}

type Kept = { text: string; base: PolicyBase }

/** A text that is kept in this tab until it is applied, also when the page is left or loaded again. */
export function useDraft(key: string, current: PolicyBase, initialText = current.file): Draft {
  const [found] = useState(() => readKept(key))
  const [{ text, base }, setState] = useState<Kept>(found ?? { text: initialText, base: current })
  const [isRestored, setRestored] = useState(found !== null)
  const store = (next: Kept) => {
    setState(next)
    keep(key, next)
  }
  return {
    text,
    base,
    isChanged: text !== base.file,
    isRestored,
    setText: (next) => store({ text: next, base }),
    rebase: (next) => store({ text, base: next }),
    discard: (next) => {
      setRestored(false)
      store({ text: next.file, base: next })
    },
  }
}

function keep(key: string, { text, base }: Kept): void {
  if (text === base.file) sessionStorage.removeItem(key)
  else sessionStorage.setItem(key, JSON.stringify({ text, base }))
}

function readKept(key: string): Kept | null {
  try {
    const { text, base } = JSON.parse(sessionStorage.getItem(key) ?? '')
    return typeof text === 'string' && typeof base.file === 'string' && Number.isInteger(base.version)
      ? { text, base }
      : null
  } catch {
    return null
  }
}
