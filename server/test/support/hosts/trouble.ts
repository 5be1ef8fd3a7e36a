import { setTimeout as delay } from 'node:timers/promises'
import { HttpError } from './http-error.ts'

/**
 * What can go wrong at a host. A test sets the fields; each stays until it is set back, apart from
 * those that count requests.
 */
export class Trouble {
  /** Every answer takes this long. */
  latencyMs = 0
  /** `refuse`: connections are closed at once. `error`: every answer is 503. */
  down: 'refuse' | 'error' | null = null
  /**
   * Number of next requests that are answered 429 with `Retry-After`:
   * https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits/ ("Response headers"),
   * https://support.atlassian.com/bitbucket-cloud/docs/api-request-limits/ and
   * https://learn.microsoft.com/azure/devops/integrate/concepts/rate-limits. GitHub has its own class.
   */
  limited = 0
  retryAfterSeconds = 1
  /** Number of next answers that end in the middle. */
  cutAnswers = 0
  /** Operations that fail, with the status of their answers: `GET /repos/{owner}/{repo}/pulls`. */
  readonly failing = new Map<string, number>()
  /** Lists whose second page says that it is followed by the second page. */
  endless: RegExp | null = null

  /** Refuses a request as the test wants it. */
  async meet(operation: string): Promise<void> {
    if (this.latencyMs > 0) await delay(this.latencyMs)
    if (this.down === 'error') throw new HttpError(503, 'Service unavailable')
    this.meetLimits()
    const status = this.failing.get(operation)
    if (status !== undefined) throw new HttpError(status, 'The test lets this operation fail')
  }

  protected meetLimits(): void {
    if (this.limited === 0) return
    this.limited -= 1
    throw new HttpError(429, 'Too many requests', { 'retry-after': String(this.retryAfterSeconds) })
  }

  /** True once for each answer that is to be cut. */
  takeCut(): boolean {
    if (this.cutAnswers === 0) return false
    this.cutAnswers -= 1
    return true
  }
}
