import createFetchClient from 'openapi-fetch'
import createQueryClient from 'openapi-react-query'
import type { components, paths } from './schema.ts'

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
  async onResponse({ response }) {
    if (!response.ok) throw await readApiError(response)
  },
})

/** Queries of the application's API: `api.useQuery('get', path, { params })`. */
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

/** An error response of the application's API (`{ error: { code, message, details } }`). */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly details: Record<string, unknown>
  /** Seconds to wait before the next try, of a 429 or 503. Null if the response does not say. */
  readonly retryAfter: number | null

  constructor(status: number, body: ErrorBody, retryAfter: number | null) {
    super(body.message)
    this.name = 'ApiError'
    this.status = status
    this.code = body.code
    this.details = body.details ?? {}
    this.retryAfter = retryAfter
  }
}

type ErrorBody = { code: string; message: string; details?: Record<string, unknown> }

/** Reads an error response. A response of something else, such as a proxy, has no error body. */
async function readApiError(response: Response): Promise<ApiError> {
  const body = (await response
    .clone()
    .json()
    .catch(() => null)) as { error?: ErrorBody; message?: string } | null
  const unknown = { code: 'unexpected_response', message: `The server responded with status ${response.status}.` }
  const retryAfter = Number(response.headers.get('retry-after'))
  return new ApiError(response.status, body?.error ?? unknown, retryAfter > 0 ? retryAfter : null)
}

/** The API error that a failed query or mutation ended with. Null if no response arrived. */
export function asApiError(error: unknown): ApiError | null {
  return error instanceof ApiError ? error : null
}
