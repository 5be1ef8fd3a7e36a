import { notConfigured } from '../../../errors/codehosts.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { Log } from '../../../platform/log.ts'
import { HostUnavailable } from '../../code-host.ts'
import { hostError, limitEnd } from './host-error.ts'
import { type AppKey, type OpenOctokit, openOctokit, type Pace } from './open-octokit.ts'

const KEY_AGE_MS_MAX = 60_000

/**
 * The key of the App. It is read again after a minute, and at once when GitHub refuses it, because
 * it can be rotated while the program runs.
 */
export class AppKeys {
  readonly #read: () => Promise<AppKey | null>
  readonly #clock: Clock
  #current: { key: AppKey; readAt: number } | null = null

  constructor(read: () => Promise<AppKey | null>, clock: Clock) {
    this.#read = read
    this.#clock = clock
  }

  /** Throws 409 `not_configured`. The same key is the same object. */
  async current(): Promise<AppKey> {
    const known = this.#current
    const isNew = known !== null && this.#clock.now().getTime() - known.readAt < KEY_AGE_MS_MAX
    return isNew ? known.key : this.readAgain()
  }

  async readAgain(): Promise<AppKey> {
    const read = await this.#read()
    if (read === null) throw notConfigured('The GitHub App of this server is not configured.')
    const known = this.#current?.key
    const key = known !== undefined && isSameKey(known, read) ? known : read
    this.#current = { key, readAt: this.#clock.now().getTime() }
    return key
  }
}

function isSameKey(one: AppKey, other: AppKey): boolean {
  return one.app_id === other.app_id && one.private_key === other.private_key && one.api_url === other.api_url
}

type SessionOptions = { keys: AppKeys; installation: string | null; pace: Pace; log: Log; clock: Clock }

/** Sends requests as one installation, or as the App itself. */
export class Session {
  readonly #options: SessionOptions
  #opened: { key: AppKey; octokit: Promise<OpenOctokit> } | null = null
  #limitedUntil: Date | null = null

  constructor(options: SessionOptions) {
    this.#options = options
  }

  /**
   * Throws `HostUnavailable` or `HostRefusal`. If GitHub does not accept our token, the key is read
   * again and the request is repeated once with a new token.
   */
  async run<Result>(send: (octokit: OpenOctokit) => Promise<Result>): Promise<Result> {
    this.#refuseWhileLimited()
    const opened = await this.#open()
    try {
      return await send(opened)
    } catch (error) {
      if ((error as { status?: number }).status !== 401) throw this.#failure(error)
    }
    const renewed = await this.#renew(opened)
    return send(renewed).catch((error) => {
      throw this.#failure(error)
    })
  }

  /** The key in use, for its address and the App's id. */
  async key(): Promise<AppKey> {
    return this.#options.keys.current()
  }

  async #open(): Promise<OpenOctokit> {
    const key = await this.#options.keys.current()
    return this.#opened?.key === key ? this.#opened.octokit : this.#openWith(key)
  }

  /** Several requests may be refused at the same time: the first one opens for all. */
  async #renew(refused: OpenOctokit): Promise<OpenOctokit> {
    const before = this.#opened
    const key = await this.#options.keys.readAgain()
    if (this.#opened !== before || (await before?.octokit) !== refused) return this.#open()
    return this.#openWith(key)
  }

  #openWith(key: AppKey): Promise<OpenOctokit> {
    const { installation, pace, log } = this.#options
    const octokit = openOctokit({ key, installation, pace, log })
    this.#opened = { key, octokit }
    return octokit
  }

  /** Requests during a limit would prolong it. */
  #refuseWhileLimited(): void {
    const until = this.#limitedUntil
    if (until !== null && this.#options.clock.now() < until)
      throw new HostUnavailable(`GitHub limits our requests until ${until.toISOString()}.`, until)
  }

  #failure(error: unknown): Error {
    const failed = error as Parameters<typeof hostError>[0]
    const now = this.#options.clock.now()
    this.#limitedUntil = limitEnd(failed, now) ?? this.#limitedUntil
    return hostError(failed, now)
  }
}
