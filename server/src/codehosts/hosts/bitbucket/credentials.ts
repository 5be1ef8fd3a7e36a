import { Type } from 'typebox'
import type { Clock } from '../../../platform/clock.ts'
import { type HostCredentials, HostRefusal, HostUnavailable } from '../../code-host.ts'
import type { Pace } from '../../kit/pace.ts'
import { Maybe, readAs, Text } from '../../kit/payload.ts'
import { RestClient } from '../../kit/rest-client.ts'
import { CredentialsRefused } from '../../kit/rest-error.ts'
import type { BitbucketAddresses } from './client/addresses.ts'

type SessionOptions = {
  addresses: BitbucketAddresses
  /** Null if the connection has no credentials. */
  read: () => Promise<HostCredentials | null>
  pace: Pace
  clock: Clock
}

/**
 * A token is used at most this long before the credentials are read again: they can be replaced.
 */
const AGE_MS_MAX = 60_000
/** Bitbucket's tokens live two hours. A token is renewed before its end. */
const RENEWED_MS_BEFORE = 120_000
const LIFETIME_SECONDS = 3600

type Token = { credentials: HostCredentials; value: string; readAt: number; expiresAt: number }

/** Signs in with the credentials of one connection. */
export class BitbucketSession {
  readonly #options: SessionOptions
  #token: Token | null = null
  #renewing: Promise<Token> | null = null

  constructor(options: SessionOptions) {
    this.#options = options
  }

  /** `renew`: the last token was refused. Requests that need a new one together ask for it once. */
  async authorize(renew: boolean): Promise<Record<string, string>> {
    const isUsable = this.#token !== null && !renew && !this.#isOld(this.#token)
    this.#renewing ??= isUsable ? null : this.#renew(renew)
    const token = (await this.#renewing) ?? (this.#token as Token)
    return { authorization: `Bearer ${token.value}` }
  }

  #isOld({ readAt, expiresAt }: Token): boolean {
    const now = this.#options.clock.now().getTime()
    return now - readAt >= AGE_MS_MAX || now >= expiresAt
  }

  async #renew(isRefused: boolean): Promise<Token> {
    try {
      this.#token = await this.#next(this.#token, isRefused)
      return this.#token
    } finally {
      this.#renewing = null
    }
  }

  async #next(held: Token | null, isRefused: boolean): Promise<Token> {
    const credentials = await this.#options.read()
    if (credentials === null) throw new HostUnavailable('The connection has no credentials')
    const now = this.#options.clock.now().getTime()
    const isSame = held !== null && JSON.stringify(held.credentials) === JSON.stringify(credentials)
    if (isSame && !isRefused && now < held.expiresAt) return { ...held, readAt: now }
    if (credentials.type === 'token')
      return { credentials, value: credentials.token, readAt: now, expiresAt: Number.POSITIVE_INFINITY }
    const { token, lifetimeMs } = await this.#request(credentials)
    return { credentials, value: token, readAt: now, expiresAt: now + lifetimeMs - RENEWED_MS_BEFORE }
  }

  /** The token of an OAuth consumer (RFC 6749, section 4.4). */
  async #request({ client_id, client_secret }: Extract<HostCredentials, { type: 'client' }>) {
    const { addresses, pace, clock } = this.#options
    const { origin, path } = addresses.tokens
    const authorization = `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`
    const client = new RestClient({
      provider: 'bitbucket',
      base: origin,
      authorize: async () => ({ authorization }),
      pace,
      clock,
    })
    const body = new URLSearchParams({ grant_type: 'client_credentials' })
    const answer = await client.request({ method: 'POST', path, body }).catch(refused)
    const { access_token: token, expires_in: seconds } = readAs(TokenAnswer, answer.body)
    return { token, lifetimeMs: (seconds ?? LIFETIME_SECONDS) * 1000 }
  }
}

const TokenAnswer = Type.Object({ access_token: Text, expires_in: Maybe(Type.Number()) })

/** RFC 6749, section 5.2: a consumer that is not accepted is answered 400 or 401. */
function refused(error: unknown): never {
  if (error instanceof HostRefusal) throw new CredentialsRefused(error.message)
  throw error
}
