import type { Clock } from '../../platform/clock.ts'
import { type HostCredentials, HostRefusal, HostUnavailable } from '../code-host.ts'
import { CredentialsRefused } from './rest-error.ts'

/**
 * Credentials are used at most this long before they are read again, because they can be replaced.
 */
const AGE_MS_MAX = 60_000

/** The header `Authorization`, and how long it may be used. */
export type SignIn = { authorization: string; lifetimeMs: number }

type SessionOptions = {
  /** Null if the connection has no credentials. */
  read: () => Promise<HostCredentials | null>
  /** Signs in. Throws `HostUnavailable`. */
  signIn: (credentials: HostCredentials) => Promise<SignIn>
  clock: Clock
}

type Held = { credentials: HostCredentials; authorization: string; readAt: number; expiresAt: number }

/** Signs in with the credentials of one connection. */
export class CredentialSession {
  readonly #options: SessionOptions
  #held: Held | null = null
  #renewing: Promise<Held> | null = null

  constructor(options: SessionOptions) {
    this.#options = options
  }

  /**
   * `renew`: the last request was refused. Requests that need a new sign-in together ask for it
   * once. Throws `HostUnavailable`.
   */
  async authorize(renew: boolean): Promise<{ authorization: string }> {
    const isUsable = this.#held !== null && !renew && !this.#isOld(this.#held)
    this.#renewing ??= isUsable ? null : this.#renew(renew)
    const { authorization } = (await this.#renewing) ?? (this.#held as Held)
    return { authorization }
  }

  #isOld({ readAt, expiresAt }: Held): boolean {
    const now = this.#options.clock.now().getTime()
    return now - readAt >= AGE_MS_MAX || now >= expiresAt
  }

  async #renew(isRefused: boolean): Promise<Held> {
    try {
      this.#held = await this.#next(this.#held, isRefused)
      return this.#held
    } finally {
      this.#renewing = null
    }
  }

  async #next(held: Held | null, isRefused: boolean): Promise<Held> {
    const { read, signIn, clock } = this.#options
    const credentials = await read()
    if (credentials === null) throw new HostUnavailable('The connection has no credentials.')
    const now = clock.now().getTime()
    const isSame = held !== null && JSON.stringify(held.credentials) === JSON.stringify(credentials)
    if (isSame && !isRefused && now < held.expiresAt) return { ...held, readAt: now }
    const { authorization, lifetimeMs } = await signIn(credentials)
    return { credentials, authorization, readAt: now, expiresAt: now + lifetimeMs }
  }
}

/** The host answers 400 or 401 to a client that it does not accept (RFC 6749, section 5.2). */
export function handleRefusedClient(error: unknown): never {
  if (error instanceof HostRefusal) throw new CredentialsRefused(error.message)
  throw error
}
