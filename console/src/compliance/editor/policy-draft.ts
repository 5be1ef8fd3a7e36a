import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { client } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { type FileMistake, mistakesIn } from './file-mistakes.ts'
import { POLICY_SCHEMA } from './policy-schema.ts'

const TYPING_MS = 400
const NONE: FileMistake[] = []

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

export type PolicyCheck = {
  mistakes: readonly FileMistake[]
  /** `unchecked`: the server could not be asked. */
  state: 'checking' | 'valid' | 'invalid' | 'unchecked'
  /** The name in the file, if it is valid. */
  name: string | null
}

/** Checks a file while it is typed: its form at once, then all of it by the server. */
export function usePolicyCheck(text: string): PolicyCheck {
  const { slug: org } = useOrganization()
  const own = useMemo(() => mistakesIn(POLICY_SCHEMA, text), [text])
  const [file] = useDebouncedValue(text, TYPING_MS)
  const { data, isError } = useQuery({
    queryKey: ['policy check', org, file],
    queryFn: async () => {
      const path = { org }
      const { data: checked } = await client.POST('/app/api/orgs/{org}/policies/validate', {
        params: { path },
        body: { file },
      })
      return checked?.data ?? null
    },
    enabled: own.length === 0 && file !== '',
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  })
  const checked = file === text ? data : null
  const mistakes = own.length > 0 ? own : (checked?.mistakes ?? NONE)
  if (mistakes.length > 0) return { mistakes, state: 'invalid', name: null }
  if (checked?.valid) return { mistakes, state: 'valid', name: checked.definition?.name ?? null }
  return { mistakes, state: isError && file === text ? 'unchecked' : 'checking', name: null }
}
