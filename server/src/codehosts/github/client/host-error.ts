import type { Octokit } from '@octokit/core'
import { HostRefusal, HostUnavailable } from '../../code-host.ts'

/** The parts of octokit's errors that we use. A failure of the network has no response. */
type ApiError = {
  message: string
  status?: number
  request?: { method?: string; url?: string }
  response?: { headers?: Record<string, string | number | undefined>; data?: unknown }
}

const MESSAGE_CHARS_MAX = 300
const LIMIT_SECONDS_MAX = 3600
const UNSTATED_LIMIT_SECONDS = 60
const LIMIT_PHRASE = /\brate limit/i

/**
 * An octokit plugin. The throttling plugin recognizes limits by the count of remaining requests or
 * by a phrase of the message, but not those that only have the status 429 or `Retry-After`. Such an
 * error gets the phrase.
 */
export function markRateLimit(octokit: Octokit) {
  octokit.hook.error('request', (error) => {
    const failed = error as ApiError
    const isUnmarked = failed.status === 429 || header(failed, 'retry-after') !== undefined
    if (isUnmarked && isLimited(failed) && header(failed, 'x-ratelimit-remaining') !== '0')
      failed.message = `${failed.message} (secondary rate limit)`
    throw error
  })
  return {}
}

/** When the limit that caused an error ends; null for other errors. `now` is our own time. */
export function limitEnd(error: ApiError, now: Date): Date | null {
  if (!isLimited(error)) return null
  const seconds = Math.min(Math.max(limitSeconds(error, now), 1), LIMIT_SECONDS_MAX)
  return new Date(now.getTime() + seconds * 1000)
}

function isLimited(error: ApiError): boolean {
  if (error.status === 429) return true
  if (error.status !== 403) return error.status === undefined && LIMIT_PHRASE.test(error.message)
  if (header(error, 'retry-after') !== undefined || header(error, 'x-ratelimit-remaining') === '0') return true
  return LIMIT_PHRASE.test(error.message)
}

/** The end is given in the host's time, which is compared with the time of its answer. */
function limitSeconds(error: ApiError, now: Date): number {
  const after = Number(header(error, 'retry-after'))
  if (after > 0) return after
  const reset = Number(header(error, 'x-ratelimit-reset'))
  if (header(error, 'x-ratelimit-remaining') !== '0' || !(reset > 0)) return UNSTATED_LIMIT_SECONDS
  const answered = Date.parse(header(error, 'date') ?? '') || now.getTime()
  return reset + 1 - Math.floor(answered / 1000)
}

function header(error: ApiError, name: string): string | undefined {
  const value = error.response?.headers?.[name]
  return value === undefined ? undefined : String(value)
}

/**
 * What a failed request means to its caller: `HostUnavailable` if it can succeed later, else
 * `HostRefusal`. Its message contains no headers, so neither a token nor a key.
 */
export function hostError(error: ApiError, now: Date): HostUnavailable | HostRefusal {
  const { status = 0 } = error
  const until = limitEnd(error, now)
  if (until !== null) return new HostUnavailable(`GitHub limits our requests until ${until.toISOString()}.`, until)
  const what = `GitHub answered ${status} to ${requestOf(error)}${reasonOf(error)}`
  if (status === 401) return new HostUnavailable(`${what} GitHub does not accept the credentials of the App.`)
  if (status === 403 && /suspended/i.test(error.message))
    return new HostUnavailable(`${what} The installation of the App is suspended.`)
  if (isTokenRequest(error) && error.response !== undefined)
    return new HostUnavailable(`${what} The App has no such installation, or may not use it.`)
  if (error.response === undefined)
    return new HostUnavailable(`GitHub did not answer ${requestOf(error)}: ${bounded(error.message)}`)
  // 501: the server is older than the function.
  const isRefusal = (status >= 400 && status < 500 && status !== 408) || status === 501
  return isRefusal ? new HostRefusal(status, what) : new HostUnavailable(what)
}

function isTokenRequest({ request }: ApiError): boolean {
  return request?.url?.endsWith('/access_tokens') ?? false
}

/** Without the query, which can be long. */
function requestOf({ request }: ApiError): string {
  const path = URL.canParse(request?.url ?? '') ? new URL(request?.url ?? '').pathname : 'a request'
  return `${request?.method ?? ''} ${path}`.trim()
}

/** GitHub's own explanation. Pages of proxies are not JSON, and left out. */
function reasonOf({ response }: ApiError): string {
  const data = response?.data as { message?: unknown } | null | undefined
  return typeof data?.message === 'string' ? `: ${bounded(data.message)}.` : '.'
}

function bounded(message: string): string {
  return message.slice(0, MESSAGE_CHARS_MAX).replace(/\.$/, '')
}
