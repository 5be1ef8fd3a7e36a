import { QueryCache, QueryClient } from '@tanstack/react-query'
import { asApiError } from './api-error.ts'

const STALE_AFTER_MS = 30_000
const TRIES_MAX = 2

/**
 * `onSignedOut` is called when a query finds that the session has ended, unless its `meta` has
 * `mayBeSignedOut`.
 */
export function createQueryClient(onSignedOut: () => void): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({
      onError: (error, { meta }) => {
        if (asApiError(error)?.code === 'not_signed_in' && !meta?.mayBeSignedOut) onSignedOut()
      },
    }),
    defaultOptions: {
      queries: { staleTime: STALE_AFTER_MS, retry: shouldRetry },
      mutations: { retry: false },
    },
  })
}

/** A response that says no will say no again; a lost connection or a restart may pass. */
function shouldRetry(failures: number, error: unknown): boolean {
  const status = asApiError(error)?.status ?? 0
  return failures < TRIES_MAX && (status === 0 || status >= 500)
}
