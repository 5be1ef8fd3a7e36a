import type { FastifyReply } from 'fastify'
import { RateLimiter } from '../../platform/http/rate-limit.ts'
import type { Actor } from '../actor.ts'

/**
 * Kinds of requests that are limited per organization, in addition to the limit per key or trust.
 */
export type LimitedKind = 'report'

/** Report requests per minute of one organization (decisions §3). */
const REPORT_REQUESTS_PER_MINUTE_MAX = 300

/**
 * The general rate limits: requests per minute of each API key and OIDC trust, and of each
 * organization for some kinds. 0 turns them off.
 */
export class RequestLimits {
  readonly #byCredential: RateLimiter | null
  readonly #byKind: Record<LimitedKind, RateLimiter> | null

  constructor(requestsPerMinute: number) {
    const isOn = requestsPerMinute > 0
    this.#byCredential = isOn ? new RateLimiter(requestsPerMinute) : null
    this.#byKind = isOn ? { report: new RateLimiter(REPORT_REQUESTS_PER_MINUTE_MAX) } : null
  }

  /**
   * Counts a request. The `RateLimit-*` headers show the limit with fewer requests left. Throws 429
   * `rate_limited`.
   */
  count({ org_id, credential }: Actor, kind: LimitedKind | undefined, now: Date, reply: FastifyReply): void {
    this.#byCredential?.take(credential.id, now, reply)
    if (!kind || !this.#byKind) return
    const ofCredential = allowanceIn(reply)
    this.#byKind[kind].take(org_id, now, reply)
    const ofKind = allowanceIn(reply)
    if (Number(ofCredential['ratelimit-remaining']) < Number(ofKind['ratelimit-remaining'])) reply.headers(ofCredential)
  }
}

function allowanceIn(reply: FastifyReply) {
  const { 'ratelimit-limit': limit, 'ratelimit-remaining': remaining, 'ratelimit-reset': reset } = reply.getHeaders()
  return { 'ratelimit-limit': limit, 'ratelimit-remaining': remaining, 'ratelimit-reset': reset }
}
