import type { FastifyReply } from 'fastify'
import { MINUTE_MS } from '../../platform/clock.ts'
import { Batch } from '../../platform/concurrency.ts'
import { createRateLimitError } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import type { Actor } from '../actor.ts'
import { upsertRequestCounts } from '../rate-limit.store.ts'

/**
 * Kinds of requests that are limited per organization and lane, in addition to the limit per key or
 * trust.
 */
export type LimitedKind = 'report'

/** Requests per minute of one lane of an organization (decisions §3). */
const KIND_REQUESTS_PER_MINUTE_MAX: Record<LimitedKind, number> = { report: 300 }

/**
 * The general rate limits: requests per minute of each API key, OIDC trust and person, and of each
 * organization for some kinds. `SHIPLOCK_RATE_LIMIT_PER_MINUTE=0` turns them off.
 */
export class RequestLimits {
  readonly #max: number
  readonly #counter: RequestCounter
  readonly #clock: Services['clock']

  constructor(services: Pick<Services, 'config' | 'sql' | 'clock'>) {
    this.#max = services.config.rateLimitPerMinute
    this.#counter = new RequestCounter(services)
    this.#clock = services.clock
  }

  /**
   * Counts a request. The `RateLimit-*` headers show the limit with fewer requests left. Throws 429
   * `rate_limited`.
   */
  async count({ org_id, credential }: Actor, kind: LimitedKind | undefined, reply: FastifyReply): Promise<void> {
    // What a lane uses up refuses nothing to others (trust §1). A trust lets in jobs of several.
    const lane = credential.type === 'oidc_trust' && credential.job !== null ? credential.job.foreign_code : 'key'
    await this.countOf(lane === 'key' || lane === 'none' ? credential.id : `${lane} ${credential.id}`, reply)
    if (!kind || this.#max === 0) return
    const ofCredential = allowanceIn(reply)
    await this.#take(`${kind} ${lane} ${org_id}`, KIND_REQUESTS_PER_MINUTE_MAX[kind], reply)
    const ofKind = allowanceIn(reply)
    if (Number(ofCredential['ratelimit-remaining']) < Number(ofKind['ratelimit-remaining'])) reply.headers(ofCredential)
  }

  /** Counts a request of a credential or a person. Throws 429 `rate_limited`. */
  async countOf(callerId: string, reply: FastifyReply): Promise<void> {
    if (this.#max > 0) await this.#take(callerId, this.#max, reply)
  }

  async #take(caller: string, max: number, reply: FastifyReply): Promise<void> {
    const { used, resetAt } = await this.#counter.count(caller, max)
    const now = this.#clock.now()
    reply.header('ratelimit-limit', max)
    reply.header('ratelimit-remaining', Math.max(0, max - used))
    reply.header('ratelimit-reset', Math.max(0, Math.ceil((resetAt.getTime() - now.getTime()) / 1000)))
    if (used > max) throw createRateLimitError('Too many requests. Try again later.', { limit: max, resetAt, now })
  }
}

function allowanceIn(reply: FastifyReply) {
  const { 'ratelimit-limit': limit, 'ratelimit-remaining': remaining, 'ratelimit-reset': reset } = reply.getHeaders()
  return { 'ratelimit-limit': limit, 'ratelimit-remaining': remaining, 'ratelimit-reset': reset }
}

/** The place of a request among those of its caller in a window of one minute. */
export type Place = { used: number; resetAt: Date }

const CALLERS_MAX = 10_000

/**
 * Counts the requests of each caller per minute, exactly, together with all other processes. The
 * requests that arrive while a statement runs are counted by the next one, so that all of them
 * share its round trip.
 */
class RequestCounter {
  readonly #batch: Batch<string, Place>
  /** The ends of windows that are used up: their requests need no statement. */
  readonly #usedUp = new Map<string, Date>()
  readonly #clock: Services['clock']

  constructor({ sql, clock }: Pick<Services, 'sql' | 'clock'>) {
    this.#clock = clock
    const count = async (callers: string[]) => {
      const windows = await upsertRequestCounts(sql, countCallers(callers), clock.now())
      return computePlaces(callers, new Map(windows.map((window) => [window.caller, window])))
    }
    this.#batch = new Batch(count, { runningMax: 1, itemsMax: 1000 })
  }

  /** Counts one request, of at most `max` in a minute. */
  async count(caller: string, max: number): Promise<Place> {
    const end = this.#usedUp.get(caller)
    if (end !== undefined && end > this.#clock.now()) return { used: max + 1, resetAt: end }
    const place = await this.#batch.add(caller)
    if (place.used > max) this.#rememberUsedUp(caller, place.resetAt)
    return place
  }

  #rememberUsedUp(caller: string, end: Date): void {
    if (this.#usedUp.size >= CALLERS_MAX) this.#usedUp.clear()
    this.#usedUp.set(caller, end)
  }
}

function countCallers(callers: string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const caller of callers) counts.set(caller, (counts.get(caller) ?? 0) + 1)
  return counts
}

/** A window's count is the place of the last of the requests that were added to it. */
function computePlaces(callers: string[], windows: Map<string, { window_started_at: Date; used: number }>): Place[] {
  const left = countCallers(callers)
  return callers.map((caller) => {
    const window = windows.get(caller)
    const later = (left.get(caller) ?? 0) - 1
    left.set(caller, later)
    if (window === undefined) throw new Error(`The requests of ${caller} were not counted.`)
    return { used: window.used - later, resetAt: new Date(window.window_started_at.getTime() + MINUTE_MS) }
  })
}
