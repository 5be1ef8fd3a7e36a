import { HostRefusal, HostUnavailable } from '../code-host.ts'

/** A response that is not successful. */
export type FailedResponse = { status: number; headers: Headers; body: unknown }

/** What is said of a request: `GET /api/v4/projects/7`, without its query. */
type RequestName = { host: string; request: string }

/** The host does not accept our credentials, even renewed. New ones end this. */
export class CredentialsRefused extends HostUnavailable {}

const MESSAGE_CHARS_MAX = 300
const LIMIT_SECONDS_MAX = 3600
const UNSTATED_LIMIT_SECONDS = 60
const LIMIT_PHRASE = /\brate limit/i
/** What hosts call the time at which their limit ends, in seconds since 1970. */
const RESET_HEADERS = ['ratelimit-reset', 'x-ratelimit-reset']

/** When the limit of requests ends that a response states; null if it states none. */
export function parseLimitEnd(failed: FailedResponse, now: Date): Date | null {
  if (!isLimit(failed)) return null
  const seconds = Math.min(Math.max(limitSeconds(failed, now), 1), LIMIT_SECONDS_MAX)
  return new Date(now.getTime() + seconds * 1000)
}

/** Some hosts answer 403, with the time, without requests that remain, or with an explanation. */
function isLimit({ status, headers, body }: FailedResponse): boolean {
  const hasTime = Number(headers.get('retry-after')) > 0
  if (status === 429) return true
  if (status === 503) return hasTime
  return (
    status === 403 &&
    (hasTime || headers.get('x-ratelimit-remaining') === '0' || LIMIT_PHRASE.test(`${getMessage(body)}`))
  )
}

/** The end is given in the host's time, which is compared with the time of its answer. */
function limitSeconds({ headers }: FailedResponse, now: Date): number {
  const after = Number(headers.get('retry-after'))
  if (after > 0) return after
  const reset = RESET_HEADERS.map((name) => Number(headers.get(name))).find((seconds) => seconds > 0)
  // Requests remain: another limit than the one that is counted.
  const isOther = Number(headers.get('x-ratelimit-remaining') ?? 0) > 0
  if (reset === undefined || isOther) return UNSTATED_LIMIT_SECONDS
  return reset - parseHostTime(headers, now).getTime() / 1000
}

/** The time of the host when it answered. */
export function parseHostTime(headers: Headers, now: Date): Date {
  const stated = Date.parse(headers.get('date') ?? '')
  return Number.isNaN(stated) ? now : new Date(stated)
}

export function createLimitError(host: string, until: Date): HostUnavailable {
  return new HostUnavailable(`${host} limits our requests until ${until.toISOString()}.`, until)
}

/**
 * What a failed response means to its caller: `HostUnavailable` if the request can succeed later,
 * else `HostRefusal`. The message contains no headers, so no secret. `explain`: what only this host
 * means.
 */
export function createRestError(
  failed: FailedResponse,
  name: RequestName,
  now: Date,
  explain?: (failed: FailedResponse, what: string) => HostUnavailable | HostRefusal | null,
): HostUnavailable | HostRefusal {
  const until = parseLimitEnd(failed, now)
  if (until !== null) return createLimitError(name.host, until)
  const { status } = failed
  const message = getMessage(failed.body)
  const reason = message === null ? '' : `: ${bounded(message)}`
  const what = `${name.host} answered ${status} to ${name.request}${reason}.`
  const explained = explain?.(failed, what)
  if (explained) return explained
  if (status === 401)
    return new CredentialsRefused(
      `${what} It does not accept the credentials. Connect the account again with new ones.`,
    )
  const isRefusal = (status >= 400 && status < 500 && status !== 408 && status !== 429) || status === 501
  return isRefusal ? new HostRefusal(status, what) : new HostUnavailable(what)
}

/** What does not exist or may not be read. */
const UNREADABLE: readonly number[] = [403, 404, 410]

/** Null if the host refuses the request with one of these statuses. */
export async function acceptRefusal<Result>(
  request: Promise<Result>,
  statuses: readonly number[] | 'any' = UNREADABLE,
): Promise<Result | null> {
  try {
    return await request
  } catch (error) {
    if (error instanceof HostRefusal && (statuses === 'any' || statuses.includes(error.status))) return null
    throw error
  }
}

/** The failure of a request that got no response. */
export function createNoAnswerError(error: Error, { host, request }: RequestName): HostUnavailable {
  const cause = error.cause instanceof Error ? `: ${bounded(error.cause.message)}` : ''
  return new HostUnavailable(`${host} did not answer ${request}: ${bounded(error.message)}${cause}`)
}

/** The host's own explanation: `message` or `error`, which can be an object with a message. */
export function getMessage(body: unknown): string | null {
  const { message, error, error_description } = Object(body) as Record<string, unknown>
  const nested = (Object(error) as { message?: unknown }).message
  const reason = [message, error_description, nested, error].find((text) => typeof text === 'string' && text !== '')
  return (reason as string | undefined) ?? null
}

function bounded(message: string): string {
  return message.slice(0, MESSAGE_CHARS_MAX).replace(/\.$/, '')
}
