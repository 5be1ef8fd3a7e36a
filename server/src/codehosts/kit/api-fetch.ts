import { setTimeout as delay } from 'node:timers/promises'
import { defineHistogram } from '../../platform/metrics.ts'
import { fetchOutside } from '../../platform/outbound/guarded-fetch.ts'
import { withSpan } from '../../platform/tracing.ts'
import type { Provider } from '../catalogue.ts'

const seconds = defineHistogram(
  'shiplock_code_host_request_duration_seconds',
  'Time of requests to code hosts until the start of the response, by class of the status (2xx).',
  ['provider', 'status'],
)
const BODY_BYTES_MAX = 64 * 1024 * 1024

type FetchOptions = {
  /** The label of the metric. */
  provider: Provider
  /** The origin of the API: requests with our token go nowhere else. */
  origin: string
  timeLimitMs: number
  /** Leaves the body of a successful response unread. */
  stream?: boolean
}

/**
 * The `fetch` of requests to a code host. One time limit, and that of the caller, covers the
 * response with its body, and the size of the body is bounded. At most one redirect is followed,
 * and only on the API's own origin, because the token is sent again; the response of a redirect to
 * another origin is returned as it is.
 */
export function createApiFetch({ provider, origin, timeLimitMs, stream }: FetchOptions): typeof fetch {
  return async (address, init) => {
    const url = new URL(String(address))
    if (url.origin !== origin) throw new Error(`The address ${url.origin} is not that of the API.`)
    const signal = AbortSignal.any([AbortSignal.timeout(timeLimitMs), ...(init?.signal ? [init.signal] : [])])
    const limited = { ...init, redirect: 'manual' as const, signal }
    const response = await measured(provider, init?.method ?? 'GET', url, async () =>
      followOnce(await fetchOutside(url.href, limited), url, limited),
    )
    if (stream && response.ok) return response
    // A body that is cut off is an error here, and not a shorter one.
    const { status, statusText, headers } = response
    return new Response(await readBounded(response), { status, statusText, headers })
  }
}

/** Only the host of the address is stated, because paths can contain codes. */
function measured(provider: Provider, method: string, { host }: URL, send: () => Promise<Response>): Promise<Response> {
  return withSpan(
    `${method} ${host}`,
    'client',
    { 'http.request.method': method, 'server.address': host },
    async (span) => {
      const startedAt = performance.now()
      let status = 'failed'
      try {
        const response = await send()
        status = `${Math.floor(response.status / 100)}xx`
        span?.set('http.response.status_code', response.status)
        return response
      } finally {
        seconds.observe({ provider, status }, (performance.now() - startedAt) / 1000)
      }
    },
  )
}

/** Hosts redirect requests for renamed repositories, and ask to repeat them as they are. */
async function followOnce(response: Response, url: URL, init: RequestInit & { redirect: 'manual' }): Promise<Response> {
  const { status, headers } = response
  const location = status >= 300 && status < 400 ? headers.get('location') : null
  if (location === null || !URL.canParse(location, url.href)) return response
  const next = new URL(location, url)
  if (next.origin !== url.origin) return response
  await response.body?.cancel()
  return fetchOutside(next.href, init)
}

async function readBounded(response: Response): Promise<Buffer<ArrayBuffer> | null> {
  if (response.body === null) return null
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body) {
    size += chunk.length
    if (size > BODY_BYTES_MAX) throw new Error(`The response is longer than ${BODY_BYTES_MAX} bytes.`)
    chunks.push(chunk)
  }
  const isBodiless = [204, 205, 304].includes(response.status)
  return isBodiless ? null : Buffer.concat(chunks)
}

/** The time limit of a request, and the unit of the waits between its tries. */
export type Pace = {
  timeLimitMs: number
  waitUnitMs: number
  /** Whether a request is sent once only. */
  once?: boolean
}

export const PACE: Pace = { timeLimitMs: 30_000, waitUnitMs: 1000 }

/** The pace of callers that try again themselves. Tests give another `pace`. */
export function toImpatientPace({ timeLimitMs, waitUnitMs }: Pace): Pace {
  return { timeLimitMs: Math.min(timeLimitMs, 5000), waitUnitMs, once: true }
}

/** Starts what takes a place at least this far apart, in the order of the calls. */
export class Spacing {
  readonly #apartMs: number
  #nextAt = 0

  constructor(apartMs: number) {
    this.#apartMs = apartMs
  }

  async take(): Promise<void> {
    const now = performance.now()
    const at = Math.max(now, this.#nextAt)
    this.#nextAt = at + this.#apartMs
    if (at > now) await delay(at - now)
  }
}
