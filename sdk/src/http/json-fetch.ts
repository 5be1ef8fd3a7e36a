import { networkFetch } from '#fetch'
import { withDeadline } from './deadline.ts'
import { type Answer, errorOf, notJson } from './error-body.ts'
import { unreachable } from './errors.ts'
import { LaterFields } from './later-fields.ts'
import { type Retry, type RetryPolicy, withRetries } from './retry.ts'

/** What all requests of one client share. */
export type HttpSettings = {
  /** The credential, or a function that is asked again before every attempt. Null for none. */
  token: string | null | (() => string | null | Promise<string | null>)
  userAgent: string | null
  /** Replaces the `fetch` of the platform for every request, uploads included. */
  fetch: typeof globalThis.fetch | undefined
  onRetry: ((retry: Retry) => void) | undefined
  onOlderServer?: ((server: OlderServer) => void) | undefined
  signal: AbortSignal | undefined
  policy: RetryPolicy
}

/**
 * A server that does not know fields which this client sends. `version` is that of its API; null if
 * unknown. `refused` is the field that is left out from now on, such as `timeout_minutes`.
 */
export type OlderServer = { version: string | null; refused: string }

/**
 * A `fetch` for JSON requests: with the credential, retries and a time limit. Its responses are
 * successes; everything else is thrown as ShiplockError or NetworkError.
 */
export function jsonFetch(
  settings: HttpSettings,
): (request: Request, signal: AbortSignal | undefined) => Promise<Response> {
  const { policy, onRetry } = settings
  const later = new LaterFields()
  return async (request, signal) => {
    // Kept as text, because a stream could be sent only once.
    const body = (await request.text()) || null
    const signals = [settings.signal, signal]
    const { method, url } = request
    const repeated = { method, url, policy, attempts: policy.attempts, onRetry, signals }
    return withRetries({ ...repeated, isRetryable: (error) => error.retryable }, async () => {
      const headers = await headersOf(settings, request.headers)
      const sendOnce = (text: string | null) =>
        withDeadline({ url, timeoutMs: policy.timeoutMs, signals }, (ending) =>
          send(settings, url, { method, headers, body: text, signal: ending, redirect: 'manual' }),
        )
      return later.send(body, sendOnce, async (refused) =>
        settings.onOlderServer?.({ ...(await describeServer(settings, url)), refused: refused.slice('/body/'.length) }),
      )
    })
  }
}

const VERSION_MS_MAX = 5000

/** The version is the one in the description of the API, which everybody may read. */
async function describeServer(settings: HttpSettings, address: string): Promise<Pick<OlderServer, 'version'>> {
  const url = `${address.slice(0, address.lastIndexOf('/v1/'))}/v1/openapi.json`
  try {
    const ask = (signal: AbortSignal) => send(settings, url, { signal, redirect: 'manual' })
    const response = await withDeadline({ url, timeoutMs: VERSION_MS_MAX, signals: [settings.signal] }, ask)
    const { info } = (await response.json()) as { info?: { version?: unknown } }
    return { version: typeof info?.version === 'string' ? info.version : null }
  } catch {
    return { version: null }
  }
}

async function headersOf({ token, userAgent }: HttpSettings, given: Headers): Promise<Headers> {
  const headers = new Headers(given)
  if (!headers.has('accept')) headers.set('accept', 'application/json')
  if (userAgent !== null) headers.set('user-agent', userAgent)
  if (headers.has('authorization')) return headers
  const bearer = typeof token === 'function' ? await token() : token
  if (bearer !== null) headers.set('authorization', `Bearer ${bearer.trim()}`)
  return headers
}

async function send(settings: HttpSettings, url: string, init: RequestInit): Promise<Response> {
  const { response, text } = await fetchText(settings.fetch ?? networkFetch, url, init)
  const answer = toAnswer(url, response, text)
  if (!response.ok) throw errorOf(answer)
  if (!isJson(text)) throw notJson(answer)
  const { status, statusText, headers } = response
  return new Response(text, { status, statusText, headers })
}

async function fetchText(fetch: typeof networkFetch, url: string, init: RequestInit) {
  try {
    const response = await fetch(url, init)
    return { response, text: await response.text() }
  } catch (error) {
    throw unreachable(url, error)
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

export function toAnswer(url: string, response: Response, text: string): Answer {
  const { status, statusText, headers } = response
  return { url, status, statusText, header: (name) => headers.get(name), text }
}
