import { HostRefusal, HostUnavailable } from '../code-host.ts'

/** A response that is not successful. */
export type FailedResponse = { status: number; headers: Headers; body: unknown }

/** What is said of a request: `GET /api/v4/projects/7`, without its query. */
export type RequestName = { host: string; request: string }

/** The host does not accept our credentials, even renewed. New ones end this. */
export class CredentialsRefused extends HostUnavailable {}

const MESSAGE_CHARS_MAX = 300
const LIMIT_SECONDS_MAX = 3600
const UNSTATED_LIMIT_SECONDS = 60
/** What hosts call the time at which their limit ends, in seconds since 1970. */
const RESET_HEADERS = ['ratelimit-reset', 'x-ratelimit-reset']

/** When the limit of requests ends that a response states; null if it states none. */
export function limitEnd({ status, headers }: FailedResponse, now: Date): Date | null {
  const after = Number(headers.get('retry-after'))
  if (status !== 429 && !(status === 503 && after > 0)) return null
  const reset = RESET_HEADERS.map((name) => Number(headers.get(name))).find((seconds) => seconds > 0)
  const stated = after > 0 ? after : reset === undefined ? UNSTATED_LIMIT_SECONDS : reset - now.getTime() / 1000
  return new Date(now.getTime() + Math.min(Math.max(stated, 1), LIMIT_SECONDS_MAX) * 1000)
}

/**
 * What a failed response means to its caller: `HostUnavailable` if the request can succeed later,
 * else `HostRefusal`. The message contains no headers, so no secret.
 */
export function restError(failed: FailedResponse, name: RequestName, now: Date): HostUnavailable | HostRefusal {
  const until = limitEnd(failed, now)
  if (until !== null)
    return new HostUnavailable(`${name.host} limits our requests until ${until.toISOString()}.`, until)
  const { status } = failed
  const what = `${name.host} answered ${status} to ${name.request}${reasonOf(failed.body)}`
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
export async function orNull<Result>(
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
export function unanswered(error: Error, { host, request }: RequestName): HostUnavailable {
  const cause = error.cause instanceof Error ? `: ${bounded(error.cause.message)}` : ''
  return new HostUnavailable(`${host} did not answer ${request}: ${bounded(error.message)}${cause}`)
}

/** The host's own explanation: `message` or `error`, which can be an object with a message. */
function reasonOf(body: unknown): string {
  const { message, error, error_description } = Object(body) as Record<string, unknown>
  const nested = (Object(error) as { message?: unknown }).message
  const reason = [message, error_description, nested, error].find((text) => typeof text === 'string' && text !== '')
  return reason === undefined ? '.' : `: ${bounded(reason as string)}.`
}

function bounded(message: string): string {
  return message.slice(0, MESSAGE_CHARS_MAX).replace(/\.$/, '')
}
