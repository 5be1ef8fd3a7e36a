import type { FastifyReply } from 'fastify'
import { createRateLimitError } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import type { Actor } from '../actor.ts'
import { RequestCounter } from './request-counter.ts'

/**
 * Kinds of requests that are limited per organization, in addition to the limit per key or trust.
 */
export type LimitedKind = 'report'

/** Requests per minute of one organization (decisions §3). */
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
    await this.countOf(credential.id, reply)
    if (!kind || this.#max === 0) return
    const ofCredential = allowanceIn(reply)
    await this.#take(`${kind} ${org_id}`, KIND_REQUESTS_PER_MINUTE_MAX[kind], reply)
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
