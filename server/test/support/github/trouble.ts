import { setTimeout as delay } from 'node:timers/promises'
import { GitHubError } from './github-error.ts'

/** Requests an hour. */
const LIMIT = 15_000

/**
 * What can go wrong at GitHub. A test sets the fields; each stays until it is set back, apart from
 * those that count requests.
 */
export class Trouble {
  /** Every answer takes this long. */
  latencyMs = 0
  /** `refuse`: connections are closed at once. `error`: every answer is 503. */
  down: 'refuse' | 'error' | null = null
  /**
   * Number of next requests that exceed the primary rate limit, which is reset after `resetSeconds`.
   * `Infinity` until it is set back.
   */
  primaryLimited = 0
  /** 403 or 429: GitHub documents both. */
  limitedStatus: 403 | 429 = 403
  resetSeconds = 1
  /** Number of next requests that exceed a secondary limit, with `Retry-After`. */
  secondaryLimited = 0
  retryAfterSeconds = 1
  /** Number of next answers that end in the middle. */
  cutAnswers = 0
  /** Operations that fail, with the status of their answers: `GET /repos/{owner}/{repo}/pulls`. */
  readonly failing = new Map<string, number>()
  #used = 0

  /** Counts a request and refuses it if it exceeds a limit. */
  async meet(operation: string): Promise<void> {
    if (this.latencyMs > 0) await delay(this.latencyMs)
    if (this.down === 'error') throw new GitHubError(503, 'Service unavailable')
    if (this.primaryLimited > 0) {
      this.primaryLimited -= 1
      throw new GitHubError(this.limitedStatus, 'API rate limit exceeded for installation ID 1.', this.headers(0))
    }
    if (this.secondaryLimited > 0) {
      this.secondaryLimited -= 1
      const headers = { 'retry-after': String(this.retryAfterSeconds) }
      throw new GitHubError(this.limitedStatus, 'You have exceeded a secondary rate limit.', headers)
    }
    const status = this.failing.get(operation)
    if (status !== undefined) throw new GitHubError(status, 'The test lets this operation fail')
    this.#used += 1
  }

  /** True once for each answer that is to be cut. */
  takeCut(): boolean {
    if (this.cutAnswers === 0) return false
    this.cutAnswers -= 1
    return true
  }

  headers(remaining = LIMIT - (this.#used % LIMIT)): Record<string, string> {
    return {
      'x-ratelimit-limit': String(LIMIT),
      'x-ratelimit-remaining': String(remaining),
      'x-ratelimit-used': String(LIMIT - remaining),
      'x-ratelimit-reset': String(Math.ceil(Date.now() / 1000) + this.resetSeconds),
      'x-ratelimit-resource': 'core',
    }
  }
}
