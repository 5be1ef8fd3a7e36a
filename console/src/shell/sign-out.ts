import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { notifyFailed } from '../actions/notify.tsx'
import { asApiError } from '../api/api-error.ts'
import { client } from '../api/client.ts'

/** Ends the session, and forgets what was read with it. */
export function useSignOut(): () => void {
  const queries = useQueryClient()
  const navigate = useNavigate()
  return () => {
    client
      .DELETE('/app/api/session')
      .catch((error) => {
        if (asApiError(error)?.code !== 'not_signed_in') throw error
      })
      .then(() => navigate({ to: '/sign-in' }))
      .then(() => queries.clear())
      .catch((error) => notifyFailed('You could not be signed out', error))
  }
}
