import { HttpError } from '../hosts/http-error.ts'
import { Trouble } from '../hosts/trouble.ts'

/** Requests an hour. */
const LIMIT = 15_000

/**
 * What can go wrong at GitHub. `limited` requests exceed a secondary limit, with `Retry-After`.
 * https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api names the statuses and
 * the headers.
 */
export class GitHubTrouble extends Trouble {
  /**
   * Number of next requests that exceed the primary rate limit, which is reset after
   * `resetSeconds`.
   * `Infinity` until it is set back.
   */
  primaryLimited = 0
  /** 403 or 429: GitHub documents both. */
  limitedStatus: 403 | 429 = 403
  resetSeconds = 1
  #used = 0

  protected override meetLimits(): void {
    if (this.primaryLimited > 0) {
      this.primaryLimited -= 1
      throw new HttpError(this.limitedStatus, 'API rate limit exceeded for installation ID 1.', this.headers(0))
    }
    if (this.limited > 0) {
      this.limited -= 1
      const headers = { 'retry-after': String(this.retryAfterSeconds) }
      throw new HttpError(this.limitedStatus, 'You have exceeded a secondary rate limit.', headers)
    }
    this.#used += 1
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
