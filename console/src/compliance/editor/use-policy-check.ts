import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { client } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { type FileMistake, mistakesIn } from './file-mistakes.ts'
import { POLICY_SCHEMA } from './policy-schema.ts'

const TYPING_MS = 400

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

const NONE: FileMistake[] = []
