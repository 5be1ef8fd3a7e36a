import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { ownPath } from './own-path.ts'

/** Goes on after a sign-in. What was read for somebody else, or for nobody, is forgotten. */
export function useEnterConsole(): (next: string | undefined) => void {
  const router = useRouter()
  const queries = useQueryClient()
  return (next) => {
    queries.clear()
    router.history.replace(ownPath(next, location.origin) ?? '/')
  }
}
