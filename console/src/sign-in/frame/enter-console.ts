import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'

/** Goes on after a sign-in. What was read for somebody else, or for nobody, is forgotten. */
export function useEnterConsole(): (next: string | undefined) => void {
  const router = useRouter()
  const queries = useQueryClient()
  return (next) => {
    queries.clear()
    router.history.replace(ownPath(next, location.origin) ?? '/')
  }
}

/**
 * The path of an address of this server, or null. A path such as /.//host becomes //host, which
 * browsers read as another host.
 */
export function ownPath(address: string | undefined, origin: string): string | null {
  if (!address?.startsWith('/') || !URL.canParse(address, origin)) return null
  const url = new URL(address, origin)
  return url.origin === origin && !url.pathname.startsWith('//') ? url.pathname + url.search + url.hash : null
}
