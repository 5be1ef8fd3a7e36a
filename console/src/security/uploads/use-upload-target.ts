import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useWhenTyped } from '../../list/use-when-typed.ts'
import type { UploadTarget } from './upload-item.ts'

const route = getRouteApi('/signed-in/orgs/$org/security/uploads')
const TYPING_MS = 400

/** What the reports are about. The address remembers it, so that it can be shared and reloaded. */
export function useUploadTarget(): [UploadTarget, (changes: Partial<UploadTarget>) => void] {
  const { to = '', host, ref, commit, format, category } = route.useSearch()
  const navigate = route.useNavigate()
  const [target, setTarget] = useState<UploadTarget>({ repository: to, provider: host, ref, commit, format, category })
  const remember = useWhenTyped(({ repository, provider, ...rest }: UploadTarget) => {
    const fields = { ...rest, to: repository || undefined, host: provider }
    void navigate({ search: (before) => ({ ...before, ...fields }), replace: true })
  }, TYPING_MS)
  const change = (changes: Partial<UploadTarget>) => {
    const next = { ...target, ...changes }
    setTarget(next)
    remember(next)
  }
  return [target, change]
}
