import type { Clock } from '../../platform/clock.ts'
import type { Provider } from '../catalogue.ts'
import { HostRefusal, HostUnavailable } from '../code-host.ts'
import { createApiFetch, type Pace, type Spacing } from './api-fetch.ts'
import {
  acceptRefusal,
  createLimitError,
  createNoAnswerError,
  createRestError,
  type FailedResponse,
  parseLimitEnd,
} from './rest-error.ts'

type RestOptions = {
  provider: Provider
  /** The address that paths are appended to, without a slash at its end. */
  base: string
  /** What messages call the host; the name in its address by default. */
  name?: string
  /**
   * The headers that authenticate a request. `renew`: those of the last request were refused, with
   * this answer.
   */
  authorize(renew: boolean, refused?: FailedResponse): Promise<Record<string, string>>
  /** What a failed answer means, where the host differs from others. `what` describes it. */
  explain?(failed: FailedResponse, what: string): HostUnavailable | HostRefusal | null
  /** Whether an answer means that the credentials were refused, at hosts that do not answer 401. */
  isSignIn?(answer: RestResponse): boolean
  /** Holds back requests that change something. */
  writes?: Spacing
  pace: Pace
  clock: Clock
}

export type RestRequest = {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Begins with a slash. Its variable parts are encoded by `encodePath`. */
  path: string
  /** The values of an array are sent one by one under the same name. */
  query?: Record<string, string | number | boolean | readonly string[] | undefined>
  /** Sent as JSON, as a form if it is `URLSearchParams`, or as it is if it is a `Buffer`. */
  body?: unknown
  headers?: Record<string, string>
  /** Whether a request that is no GET changes nothing, so that it may be tried again. */
  isQuery?: boolean
}

/** `body` is the parsed JSON; the text itself if it is not JSON; null if it is empty. */
export type RestResponse = { status: number; headers: Headers; body: unknown }

const TRIES_MAX = 3
const AT_ONCE_MAX = 8

/**
 * Sends requests to the REST API of a host. Reads are tried again at once after failures of the
 * server, all together within the time of one request. Nothing is waited for, because a wait would
 * hold a place of the worker: jobs are tried again instead. Until the end of a limit no request is
 * sent, which would prolong it. Throws `HostUnavailable` and `HostRefusal`.
 */
export class RestClient {
  readonly #options: RestOptions
  readonly #fetch: typeof fetch
  readonly #streaming: typeof fetch
  readonly #waiting: (() => void)[] = []
  #free = AT_ONCE_MAX
  #limitedUntil: Date | null = null

  constructor(options: RestOptions) {
    this.#options = options
    const { provider, base, pace } = options
    const fetchOptions = { provider, origin: new URL(base).origin, timeLimitMs: pace.timeLimitMs }
    this.#fetch = createApiFetch(fetchOptions)
    this.#streaming = createApiFetch({ ...fetchOptions, stream: true })
  }

  /** The status is 2xx or 304. */
  async request(request: RestRequest): Promise<RestResponse> {
    if (!isRead(request)) await this.#options.writes?.take()
    await this.#take()
    try {
      return await this.#tryAgain(request)
    } finally {
      this.#giveBack()
    }
  }

  /** Null if the object does not exist or may not be read (403, 404, 410). */
  async read(request: RestRequest): Promise<unknown> {
    return (await acceptRefusal(this.request(request)))?.body ?? null
  }

  /**
   * The response with its body unread, or a redirect to another origin. Null if the object does not
   * exist or may not be read, or has no such range (403, 404, 410, 416). Sent once.
   */
  async open(request: RestRequest): Promise<Response | null> {
    this.#refuseWhileLimited()
    const { authorize } = this.#options
    const first = await this.#dispatch(request, { by: this.#streaming, headers: await authorize(false) })
    const response =
      first.status === 401
        ? await this.#dispatch(request, {
            by: this.#streaming,
            headers: await authorize(true, await readFailure(first)),
          })
        : first
    if (response.ok || (response.status >= 300 && response.status < 400)) return response
    const failed = await readFailure(response)
    const error = this.#errorOf(failed, request)
    if (error instanceof HostRefusal && [403, 404, 410, 416].includes(error.status)) return null
    throw this.#noted(error, parseLimitEnd(failed, this.#options.clock.now()))
  }

  async #tryAgain(request: RestRequest): Promise<RestResponse> {
    const { pace } = this.#options
    const triesMax = pace.once || !isRead(request) ? 1 : TRIES_MAX
    const signal = AbortSignal.timeout(pace.timeLimitMs)
    for (let tries = 1; ; tries += 1) {
      this.#refuseWhileLimited()
      const answer = await this.#sendAuthorized(request, signal)
      if (!(answer instanceof Failure)) return answer
      const { error, limitedUntil } = answer
      const isFinal = !(error instanceof HostUnavailable) || error.retryAt !== null || signal.aborted
      if (isFinal || tries >= triesMax) throw this.#noted(error, limitedUntil)
    }
  }

  /** Tokens that expire are renewed once. */
  async #sendAuthorized(request: RestRequest, signal: AbortSignal): Promise<RestResponse | Failure> {
    const answer = await this.#send(request, null, signal)
    const isRefused = answer instanceof Failure && answer.answer?.status === 401
    return isRefused ? this.#send(request, answer.answer, signal) : answer
  }

  async #send(
    request: RestRequest,
    refused: FailedResponse | null,
    signal: AbortSignal,
  ): Promise<RestResponse | Failure> {
    const { authorize, isSignIn, clock } = this.#options
    const headers = await (refused === null ? authorize(false) : authorize(true, refused))
    try {
      const response = await this.#dispatch(request, { by: this.#fetch, headers, signal })
      const received = { status: response.status, headers: response.headers, body: parse(await response.text()) }
      const answer = isSignIn?.(received) ? { ...received, status: 401, body: null } : received
      if ((answer.status >= 200 && answer.status < 300) || answer.status === 304) return answer
      return new Failure(this.#errorOf(answer, request), answer, parseLimitEnd(answer, clock.now()))
    } catch (error) {
      if (error instanceof HostUnavailable) return new Failure(error, null, null)
      return new Failure(createNoAnswerError(error as Error, this.#nameOf(request)), null, null)
    }
  }

  #errorOf(failed: FailedResponse, request: RestRequest): HostUnavailable | HostRefusal {
    const { clock, explain } = this.#options
    return createRestError(failed, this.#nameOf(request), clock.now(), explain)
  }

  #refuseWhileLimited(): void {
    if (this.#limitedUntil !== null && this.#options.clock.now() < this.#limitedUntil)
      throw createLimitError(this.#hostName(), this.#limitedUntil)
  }

  /** An error that its caller gets ends the requests until `until`. */
  #noted<Failed>(error: Failed, until: Date | null): Failed {
    this.#limitedUntil = until ?? this.#limitedUntil
    return error
  }

  /** Throws `HostUnavailable` if there is no response. `headers` are those that authenticate us. */
  async #dispatch(request: RestRequest, { by, headers: own, signal }: Dispatch): Promise<Response> {
    const { method = 'GET', body, headers } = request
    const init = {
      method,
      ...(signal && { signal }),
      headers: { accept: 'application/json', ...bodyType(body), ...own, ...headers },
    }
    try {
      return await by(this.#urlOf(request).href, { ...init, ...(body !== undefined && { body: encoded(body) }) })
    } catch (error) {
      throw createNoAnswerError(error as Error, this.#nameOf(request))
    }
  }

  #urlOf({ path, query = {} }: RestRequest): URL {
    const url = new URL(`${this.#options.base}${path}`)
    for (const [name, value] of Object.entries(query))
      for (const one of [value ?? []].flat()) url.searchParams.append(name, `${one}`)
    return url
  }

  #nameOf(request: RestRequest) {
    const { pathname } = this.#urlOf(request)
    return { host: this.#hostName(), request: `${request.method ?? 'GET'} ${pathname}` }
  }

  #hostName(): string {
    return this.#options.name ?? new URL(this.#options.base).host
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

type Dispatch = { by: typeof fetch; headers: Record<string, string>; signal?: AbortSignal }

/** A request that did not succeed. The answer is null if there was none. */
class Failure {
  readonly error: HostUnavailable | HostRefusal
  readonly answer: FailedResponse | null
  readonly limitedUntil: Date | null

  constructor(error: HostUnavailable | HostRefusal, answer: FailedResponse | null, limitedUntil: Date | null) {
    this.error = error
    this.answer = answer
    this.limitedUntil = limitedUntil
  }
}

function isRead({ method = 'GET', isQuery = false }: RestRequest): boolean {
  return method === 'GET' || isQuery
}

async function readFailure(response: Response): Promise<FailedResponse> {
  return { status: response.status, headers: response.headers, body: parse(await response.text()) }
}

/** A path with encoded variable parts: encodePath`/projects/${id}/jobs`. */
export function encodePath(texts: TemplateStringsArray, ...parts: (string | number)[]): string {
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
