import { useDebouncedCallback } from '@mantine/hooks'
import { useRouter } from '@tanstack/react-router'

/**
 * Calls `change` when the reader stops typing. Not if they have gone on to another page, also while
 * that page is still being loaded: a late change of the address would bring them back.
 */
export function useWhenTyped<Args extends unknown[]>(change: (...args: Args) => void, pauseMs: number) {
  const router = useRouter()
  return useDebouncedCallback((...args: Args) => {
    const { resolvedLocation: shown } = router.state
    if (shown === undefined || shown.pathname === router.latestLocation.pathname) change(...args)
  }, pauseMs)
}
