import type { FastifyReply } from 'fastify'
import { MINUTE_MS } from '../clock.ts'
import { rateLimited } from './errors.ts'

type Window = { startedAt: number; used: number }

const CALLERS_MAX = 100_000

/**
 * Counts the requests of each caller per minute. The minute starts with the caller's first request.
 */
export class RateLimiter {
  readonly #windows = new Map<string, Window>()
  readonly #max: number

  constructor(maxPerMinute: number) {
    this.#max = maxPerMinute
  }

  /** Counts one request and sets the `RateLimit` headers. Throws 429 when the limit is exceeded. */
  take(caller: string, now: Date, reply: FastifyReply): void {
    const window = this.#windowOf(caller, now.getTime())
    window.used += 1
    const resetAt = new Date(window.startedAt + MINUTE_MS)
    reply.header('ratelimit-limit', this.#max)
    reply.header('ratelimit-remaining', Math.max(0, this.#max - window.used))
    reply.header('ratelimit-reset', Math.ceil((resetAt.getTime() - now.getTime()) / 1000))
    if (window.used <= this.#max) return
    throw rateLimited('Too many requests. Try again later.', { limit: this.#max, resetAt, now })
  }

  #windowOf(caller: string, now: number): Window {
    const known = this.#windows.get(caller)
    if (known && now - known.startedAt < MINUTE_MS) return known
    if (this.#windows.size >= CALLERS_MAX) this.#dropEnded(now)
    const window = { startedAt: now, used: 0 }
    this.#windows.set(caller, window)
    return window
  }

  #dropEnded(now: number): void {
    for (const [caller, window] of this.#windows) {
      if (now - window.startedAt >= MINUTE_MS) this.#windows.delete(caller)
    }
  }
}
