import createFetchClient from 'openapi-fetch'
import createQueryClient from 'openapi-react-query'
import { readApiError, UnreachableError } from './api-error.ts'
import type { components, paths } from './schema.ts'
import { createStore } from './store.ts'

/** A named shape of the API, such as `Schema<'Issue'>`. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name]

/**
 * Calls the application's API. Every error response is thrown as an `ApiError`. Components read with
 * `api` and change with `useApiMutation`; this client is for calls outside of them.
 */
export const client = createFetchClient<paths>({
  baseUrl: location.origin,
  headers: { 'x-shiplock-csrf': '1' },
  fetch: fetchWithConfirmation,
})
client.use({
  async onResponse({ request, response }) {
    if (response.ok) return
    const error = await readApiError(response)
    if (request.method !== 'GET' && error.code === 'not_signed_in') sessionEndedInAct.set(true)
    throw error
  },
})

/** Whether something could not be done because the session had ended: the page stays as it is. */
export const sessionEndedInAct = createStore(false)

/** Queries of the application's API: `api.useQuery('get', path, { params })`. */
export const api = createQueryClient(client)

/**
 * Operations that need a fresh sign-in are sent again after the user has confirmed who they are, so
 * that no screen has to know which ones these are.
 */
async function fetchWithConfirmation(request: Request): Promise<Response> {
  const again = request.clone()
  const response = await fetchReachable(request)
  if (response.status !== 403) return response
  const { code } = await readApiError(response)
  if (code !== 'fresh_sign_in_required' || !(await confirmIdentity())) return response
  return fetchReachable(again)
}

/** An aborted request keeps its own error, which nobody is shown. */
async function fetchReachable(request: Request): Promise<Response> {
  try {
    return await fetch(request)
  } catch (cause) {
    throw request.signal.aborted ? cause : new UnreachableError('No response arrived.', { cause })
  }
}

/** Shows the dialog, and tells `confirmIdentity` how it ended. */
type Asker = (answer: (confirmed: boolean) => void) => void

let ask: Asker | null = null
let pending: Promise<boolean> | null = null

/** The dialog registers itself here. Returns how to unregister it. */
export function answerConfirmations(asker: Asker): () => void {
  ask = asker
  return () => {
    ask = null
  }
}

/**
 * Asks the user to confirm who they are (console.md §1, "fresh sign-in"). False if they cancel.
 * Several operations at the same time share one dialog.
 */
function confirmIdentity(): Promise<boolean> {
  const asker = ask
  if (asker === null) return Promise.resolve(false)
  pending ??= new Promise<boolean>((resolve) => asker(resolve)).finally(() => {
    pending = null
  })
  return pending
}
