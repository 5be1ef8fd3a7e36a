import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../../platform/clock.ts'
import type { Provider } from '../../repositories/repository-identity.ts'
import { type HostRefusal, HostUnavailable } from '../code-host.ts'
import { createApiFetch } from './api-fetch.ts'
import type { Pace } from './pace.ts'
import { limitEnd, orNull, restError, unanswered } from './rest-error.ts'

export type RestOptions = {
  provider: Provider
  /** The address that paths are appended to, without a slash at its end. */
  base: string
  /** The headers that authenticate a request. `renew`: those of the last request were refused. */
  authorize(renew: boolean): Promise<Record<string, string>>
  /** Whether an answer means that the credentials were refused, at hosts that do not answer 401. */
  isSignIn?(answer: RestResponse): boolean
  pace: Pace
  clock: Clock
}

export type RestRequest = {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Begins with a slash. Its variable parts are encoded by `restPath`. */
  path: string
  /** The values of an array are sent one by one under the same name. */
  query?: Record<string, string | number | boolean | readonly string[] | undefined>
  /** Sent as JSON, as a form if it is `URLSearchParams`, or as it is if it is a `Buffer`. */
  body?: unknown
  headers?: Record<string, string>
}

/** `body` is the parsed JSON; the text itself if it is not JSON; null if it is empty. */
export type RestResponse = { status: number; headers: Headers; body: unknown }

const TRIES_MAX = 3
/** Longer waits would hold a worker: the job is tried again instead. */
const WAIT_MS_MAX = 60_000
const AT_ONCE_MAX = 8

/**
 * Sends requests to the REST API of a host. Reads are tried again after failures of the server and
 * short limits; writes only after limits, because the host may have carried them out. Throws
 * `HostUnavailable` and `HostRefusal`.
 */
export class RestClient {
  readonly #options: RestOptions
  readonly #fetch: typeof fetch
  readonly #streaming: typeof fetch
  readonly #waiting: (() => void)[] = []
  #free = AT_ONCE_MAX

  constructor(options: RestOptions) {
    this.#options = options
    const { provider, base, pace } = options
    const fetchOptions = { provider, origin: new URL(base).origin, timeLimitMs: pace.timeLimitMs }
    this.#fetch = createApiFetch(fetchOptions)
    this.#streaming = createApiFetch({ ...fetchOptions, stream: true })
  }

  /** The status is 2xx or 304. */
  async request(request: RestRequest): Promise<RestResponse> {
    await this.#take()
    try {
      return await this.#tryAgain(request)
    } finally {
      this.#giveBack()
    }
  }

  /** Null if the object does not exist or may not be read (403, 404, 410). */
  async read(request: RestRequest): Promise<unknown> {
    return (await orNull(this.request(request)))?.body ?? null
  }

  /**
   * The response with its body unread, or a redirect to another origin. Null if the object does not
   * exist or may not be read, or has no such range (403, 404, 410, 416). Sent once.
   */
  async open(request: RestRequest): Promise<Response | null> {
    const { authorize } = this.#options
    const first = await this.#dispatch(request, { by: this.#streaming, headers: await authorize(false) })
    const response =
      first.status === 401
        ? await this.#dispatch(request, { by: this.#streaming, headers: await authorize(true) })
        : first
    if (response.ok || (response.status >= 300 && response.status < 400)) return response
    const body = parse(await response.text())
    if ([403, 404, 410, 416].includes(response.status)) return null
    const { status, headers } = response
    throw restError({ status, headers, body }, this.#nameOf(request), this.#options.clock.now())
  }

  async #tryAgain(request: RestRequest): Promise<RestResponse> {
    const { pace } = this.#options
    for (let tries = 1; ; tries += 1) {
      const answer = await this.#sendAuthorized(request)
      if (!(answer instanceof Failure)) return answer
      const waitMs = tries < TRIES_MAX && !pace.once ? this.#waitAfter(answer, request, tries) : null
      if (waitMs === null) throw answer.error
      await delay(waitMs)
    }
  }

  /** Null if trying again at once does not help. */
  #waitAfter({ error, isLimit }: Failure, { method = 'GET' }: RestRequest, tries: number): number | null {
    const { clock, pace } = this.#options
    if (!(error instanceof HostUnavailable) || (method !== 'GET' && !isLimit)) return null
    const retryMs = error.retryAt === null ? null : error.retryAt.getTime() - clock.now().getTime()
    const waitMs = retryMs === null ? tries ** 2 * pace.waitUnitMs : (retryMs / 1000) * pace.waitUnitMs
    return waitMs <= WAIT_MS_MAX ? waitMs : null
  }

  /** Tokens that expire are renewed once. */
  async #sendAuthorized(request: RestRequest): Promise<RestResponse | Failure> {
    const answer = await this.#send(request, false)
    return answer instanceof Failure && answer.status === 401 ? this.#send(request, true) : answer
  }

  async #send(request: RestRequest, renew: boolean): Promise<RestResponse | Failure> {
    const { authorize, isSignIn, clock } = this.#options
    const headers = await authorize(renew)
    try {
      const response = await this.#dispatch(request, { by: this.#fetch, headers })
      const received = { status: response.status, headers: response.headers, body: parse(await response.text()) }
      const answer = isSignIn?.(received) ? { ...received, status: 401, body: null } : received
      if ((answer.status >= 200 && answer.status < 300) || answer.status === 304) return answer
      const error = restError(answer, this.#nameOf(request), clock.now())
      return new Failure(error, answer.status, limitEnd(answer, clock.now()) !== null)
    } catch (error) {
      if (error instanceof HostUnavailable) return new Failure(error, null, false)
      return new Failure(unanswered(error as Error, this.#nameOf(request)), null, false)
    }
  }

  /** Throws `HostUnavailable` if there is no response. `headers` are those that authenticate us. */
  async #dispatch(request: RestRequest, { by, headers: own }: Dispatch): Promise<Response> {
    const { method = 'GET', body, headers } = request
    const init = { method, headers: { accept: 'application/json', ...bodyType(body), ...own, ...headers } }
    try {
      return await by(this.#urlOf(request).href, { ...init, ...(body !== undefined && { body: encoded(body) }) })
    } catch (error) {
      throw unanswered(error as Error, this.#nameOf(request))
    }
  }

  #urlOf({ path, query = {} }: RestRequest): URL {
    const url = new URL(`${this.#options.base}${path}`)
    for (const [name, value] of Object.entries(query))
      for (const one of [value ?? []].flat()) url.searchParams.append(name, `${one}`)
    return url
  }

  #nameOf(request: RestRequest) {
    const { host, pathname } = this.#urlOf(request)
    return { host, request: `${request.method ?? 'GET'} ${pathname}` }
  }

  #take(): Promise<void> {
    if (this.#free === 0) return new Promise((resolve) => this.#waiting.push(resolve))
    this.#free -= 1
    return Promise.resolve()
  }

  #giveBack(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free += 1
    else next()
  }
}

type Dispatch = { by: typeof fetch; headers: Record<string, string> }

/** A request that did not succeed. The status is null if there was no response. */
class Failure {
  readonly error: HostUnavailable | HostRefusal
  readonly status: number | null
  readonly isLimit: boolean

  constructor(error: HostUnavailable | HostRefusal, status: number | null, isLimit: boolean) {
    this.error = error
    this.status = status
    this.isLimit = isLimit
  }
}

/** A path with encoded variable parts: restPath`/projects/${id}/jobs`. */
export function restPath(texts: TemplateStringsArray, ...parts: (string | number)[]): string {
  return String.raw({ raw: texts }, ...parts.map((part) => encodeURIComponent(part)))
}

function bodyType(body: unknown): Record<string, string> {
  if (Buffer.isBuffer(body)) return { 'content-type': 'application/octet-stream' }
  return body === undefined || body instanceof URLSearchParams ? {} : { 'content-type': 'application/json' }
}

function encoded(body: unknown): string | URLSearchParams | Buffer<ArrayBuffer> {
  if (Buffer.isBuffer(body)) return body as Buffer<ArrayBuffer>
  return body instanceof URLSearchParams ? body : JSON.stringify(body)
}

function parse(text: string): unknown {
  if (text === '') return null
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
