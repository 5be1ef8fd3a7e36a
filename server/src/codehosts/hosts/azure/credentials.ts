import { Type } from 'typebox'
import type { Clock } from '../../../platform/clock.ts'
import { type HostCredentials, HostRefusal, HostUnavailable } from '../../code-host.ts'
import type { Pace } from '../../kit/pace.ts'
import { readAs, Text } from '../../kit/payload.ts'
import { RestClient, restPath } from '../../kit/rest-client.ts'
import { CredentialsRefused } from '../../kit/rest-error.ts'

/** The id of Azure DevOps in Microsoft Entra, which is the same in every directory. */
const SCOPE = '499b84ac-1321-427f-aa17-267ca6975798/.default'
/** Access tokens are renewed this long before they expire. */
const RENEWAL_MS = 5 * 60_000
/** Stored credentials are read again after this time, because they can be replaced. */
const CREDENTIALS_AGE_MS_MAX = 60_000

type SignInOptions = {
  /** Null if the connection has none. */
  read: () => Promise<HostCredentials | null>
  entraUrl: string
  pace: Pace
  clock: Clock
}

type AccessToken = { of: HostCredentials; header: string; expiresAt: number }

/** Makes the header `Authorization` of requests to Azure DevOps. */
export class SignIn {
  readonly #options: SignInOptions
  readonly #entra: RestClient
  #known: { credentials: HostCredentials; readAt: number } | null = null
  #token: Promise<AccessToken> | null = null

  constructor(options: SignInOptions) {
    this.#options = options
    const { entraUrl: base, pace, clock } = options
    this.#entra = new RestClient({ provider: 'azure', base, authorize: async () => ({}), pace, clock })
  }

  /** Throws `HostUnavailable`. `renew`: the credentials of the last request were refused. */
  async authorize(renew: boolean): Promise<{ authorization: string }> {
    const credentials = await this.#credentials(renew)
    if (credentials.type === 'token')
      return { authorization: `Basic ${Buffer.from(`:${credentials.token}`).toString('base64')}` }
    const { header } = await this.#accessToken(credentials, renew)
    return { authorization: header }
  }

  async #credentials(renew: boolean): Promise<HostCredentials> {
    const now = this.#options.clock.now().getTime()
    if (this.#known !== null && !renew && now - this.#known.readAt < CREDENTIALS_AGE_MS_MAX)
      return this.#known.credentials
    const credentials = await this.#options.read()
    if (credentials === null) throw new HostUnavailable('The connection has no credentials.')
    this.#known = { credentials, readAt: now }
    return credentials
  }

  /** Simultaneous requests share one renewal. */
  async #accessToken(credentials: ClientCredentials, renew: boolean): Promise<AccessToken> {
    const before = this.#token
    const known = await before?.catch(() => null)
    const isGood = known && isSame(known.of, credentials) && known.expiresAt > this.#options.clock.now().getTime()
    if (isGood && !renew) return known
    if (this.#token === before) this.#token = this.#request(credentials)
    return this.#token as Promise<AccessToken>
  }

  /** OAuth 2.0 client credentials (RFC 6749 section 4.4). */
  async #request(credentials: ClientCredentials): Promise<AccessToken> {
    const { client_id, client_secret, tenant_id } = credentials
    if (tenant_id === null) throw new CredentialsRefused('A service principal needs the id of its directory (tenant).')
    const form = { grant_type: 'client_credentials', client_id, client_secret, scope: SCOPE }
    const path = restPath`/${tenant_id}/oauth2/v2.0/token`
    const { body } = await this.#entra
      .request({ method: 'POST', path, body: new URLSearchParams(form) })
      .catch(asRefusedCredentials)
    const { access_token: token, expires_in: seconds } = readAs(TokenAnswer, body)
    const expiresAt = this.#options.clock.now().getTime() + seconds * 1000 - RENEWAL_MS
    return { of: credentials, header: `Bearer ${token}`, expiresAt }
  }
}

type ClientCredentials = Extract<HostCredentials, { type: 'client' }>

const TokenAnswer = Type.Object({ access_token: Text, expires_in: Type.Number() })

function isSame(one: HostCredentials, other: HostCredentials): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** Entra answers 400 for an unknown client or directory, and 401 for a wrong secret. */
function asRefusedCredentials(error: unknown): never {
  if (error instanceof HostRefusal) throw new CredentialsRefused(error.message)
  throw error
}
