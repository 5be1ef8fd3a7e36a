import createFetchClient from 'openapi-fetch'
import createQueryClient from 'openapi-react-query'
import { readApiError } from './api-error.ts'
import { confirmIdentity } from './identity-confirmation.ts'
import type { components, paths } from './schema.ts'

/** A named shape of the API, such as `Schema<'Issue'>`. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name]

/**
 * Calls the application's API. Every error response is thrown as an `ApiError`. Prefer `api` in
 * components; this client is for calls outside of them.
 */
export const client = createFetchClient<paths>({
  baseUrl: location.origin,
  headers: { 'x-shiplock-csrf': '1' },
  fetch: fetchWithConfirmation,
})
client.use({
  async onResponse({ response }) {
    if (!response.ok) throw await readApiError(response)
  },
})

/** Queries and mutations of the application's API: `api.useQuery('get', path, { params })`. */
export const api = createQueryClient(client)

/**
 * Operations that need a fresh sign-in are sent again after the user has confirmed who they are, so
 * that no screen has to know which ones these are.
 */
async function fetchWithConfirmation(request: Request): Promise<Response> {
  const again = request.clone()
  const response = await fetch(request)
  if (response.status !== 403) return response
  const { code } = await readApiError(response)
  if (code !== 'fresh_sign_in_required' || !(await confirmIdentity())) return response
  return fetch(again)
}
