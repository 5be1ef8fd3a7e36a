import { createPrivateKey } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { SignJWT } from 'jose'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { notConfigured } from '../../../errors/codehosts.ts'
import { type Clock, MINUTE_MS } from '../../../platform/clock.ts'
import { type AppCredentials, HostUnavailable } from '../../code-host.ts'
import type { Pace } from '../../kit/api-fetch.ts'
import { Text, Timestamp } from '../../kit/payload.ts'
import { encodePath, type RestClient } from '../../kit/rest-client.ts'
import { type FailedResponse, parseHostTime } from '../../kit/rest-error.ts'

/** Null while no credentials are configured. They may change while the program runs. */
export type ReadAppCredentials = () => Promise<AppCredentials | null>

/** What authenticates us as an App, and where. */
type AppKey = Pick<AppCredentials, 'app_id' | 'private_key' | 'api_url'>

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

/** GitHub refuses tokens of the App that are valid for more than ten minutes. */
const APP_TOKEN_SECONDS = 600
/** The clocks of both sides may differ this much. */
const APP_TOKEN_AGE_SECONDS = 30

/** Signs in as the App ("Generating a JSON Web Token (JWT) for a GitHub App"). */
export class AppSignIn {
  readonly #keys: AppKeys
  readonly #clock: Clock
  /** How far the clock of GitHub is ahead of ours, once it has refused a token. */
  #aheadMs = 0

  constructor(keys: AppKeys, clock: Clock) {
    this.#keys = keys
    this.#clock = clock
  }

  /** A refused token can be one of an old key, or of a wrong time. */
  async authorize(renew: boolean, refused?: FailedResponse): Promise<{ authorization: string }> {
    const now = this.#clock.now()
    if (refused) this.#aheadMs = parseHostTime(refused.headers, now).getTime() - now.getTime()
    const key = renew ? await this.#keys.readAgain() : await this.#keys.current()
    const issuedAt = Math.floor((now.getTime() + this.#aheadMs) / 1000) - APP_TOKEN_AGE_SECONDS
    const token = await new SignJWT()
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
      .setIssuer(key.app_id)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + APP_TOKEN_SECONDS)
      .sign(createPrivateKey(key.private_key))
    return { authorization: `bearer ${token}` }
  }
}

/** Tokens are good for an hour, and renewed before its end. */
const TOKEN_MS_MAX = 59 * MINUTE_MS
const RENEWED_MS_BEFORE = MINUTE_MS
/** A token that is younger may not be known to all of GitHub's servers yet. */
const YOUNG_MS = 5000
const YOUNG_WAITS = 2

const TokenAnswer = Type.Object({ token: Text, expires_at: Timestamp })

type InstallationToken = { key: AppKey; value: string; createdAt: number; usableUntil: number }

type InstallationOptions = {
  keys: AppKeys
  /** Sends requests as the App. */
  app: RestClient
  installation: string
  pace: Pace
  clock: Clock
}

/** Signs in as an installation of the App. */
export class InstallationSignIn {
  readonly #options: InstallationOptions
  #token: Promise<InstallationToken> | null = null

  constructor(options: InstallationOptions) {
    this.#options = options
  }

  /** Requests that need a new token together ask for it once. */
  async authorize(renew: boolean): Promise<{ authorization: string }> {
    const { keys, clock } = this.#options
    const before = this.#token
    const [key, known] = [await keys.current(), await before?.catch(() => null)]
    const now = clock.now().getTime()
    if (known && known.key === key && now < known.usableUntil && !(renew && (await this.#isRevoked(known, now))))
      return { authorization: `token ${known.value}` }
    if (this.#token === before) this.#token = this.#create(key)
    const { value } = await (this.#token as Promise<InstallationToken>)
    return { authorization: `token ${value}` }
  }

  /** Waits for a young token to be known everywhere, which is then tried again. */
  async #isRevoked({ createdAt }: InstallationToken, now: number): Promise<boolean> {
    const { once, waitUnitMs } = this.#options.pace
    if (once || now - createdAt >= YOUNG_MS) return true
    await delay(YOUNG_WAITS * waitUnitMs)
    return false
  }

  async #create(key: AppKey): Promise<InstallationToken> {
    const { app, installation, clock } = this.#options
    const path = encodePath`/app/installations/${installation}/access_tokens`
    const { body, headers } = await app.request({ method: 'POST', path, isQuery: true })
    const now = clock.now()
    if (!Value.Check(TokenAnswer, body)) throw new HostUnavailable('GitHub gave no token of the installation.')
    const { token, expires_at } = body
    const lifetimeMs = Date.parse(expires_at) - parseHostTime(headers, now).getTime()
    const usableMs = Math.min(lifetimeMs - RENEWED_MS_BEFORE, TOKEN_MS_MAX)
    return { key, value: token, createdAt: now.getTime(), usableUntil: now.getTime() + usableMs }
  }
}
