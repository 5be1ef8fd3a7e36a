import type { Organization } from '../../organizations/organization.store.ts'
import { MINUTE_MS } from '../../platform/clock.ts'
import { GatewayRejection } from '../../platform/http/api-error.ts'
import type { Services } from '../../services.ts'
import { AccessCache } from '../access-cache.ts'
import type { MachineCredential } from '../actor.ts'
import { ACCESS_CHANNEL, findCredential } from '../api-keys/api-key.store.ts'
import { hashApiKey, isApiKey } from '../api-keys/api-key.ts'
import { readTokenJob } from '../oidc-trusts/providers/read-token-job.ts'
import { TokenVerifier } from '../oidc-trusts/tokens/token-verifier.ts'
import { updateLastUse } from './last-use.store.ts'

/** A credential with its organization, as long as neither expires. */
export type Authenticated = { credential: MachineCredential; organization: Organization; validUntil: Date | null }

type Needs = Pick<Services, 'sql' | 'clock' | 'log' | 'config'>

/**
 * Finds the credential that a bearer token stands for: an API key, or the trust of a CI job's
 * token.
 */
export class Authenticator {
  readonly #services: Needs
  readonly #known: AccessCache<Authenticated | null>
  readonly #tokens: TokenVerifier
  readonly #touched = new Map<string, number>()

  constructor(services: Needs) {
    this.#services = services
    this.#known = new AccessCache(services.clock)
    this.#tokens = new TokenVerifier(services)
  }

  /**
   * Starts to listen for changes. A reconnect clears the caches, because notifications may have
   * been lost before it.
   */
  async listen(): Promise<() => Promise<void>> {
    const caches = [this.#known, this.#tokens.trusts]
    const forget = (id: string) => {
      for (const cache of caches) cache.forget(id)
    }
    const subscription = await this.#services.sql.listen(ACCESS_CHANNEL, forget, () => forget('*'))
    return () => subscription.unlisten()
  }

  /** Throws `GatewayRejection`, for tokens `TokenRejection`. */
  async authenticate(bearer: string): Promise<Authenticated> {
    const now = this.#services.clock.now()
    const hash = hashApiKey(bearer)
    const read = isToken(bearer) ? () => this.#readToken(bearer) : () => this.#readKey(hash)
    if (!isToken(bearer) && !isApiKey(bearer, this.#services.config.environment)) throw new GatewayRejection(401)
    const found = await this.#known.find(hash.toString('hex'), read)
    const isOver = found !== null && found.validUntil !== null && found.validUntil <= now
    // The second read finds out what has expired, the token or the trust.
    const current = isOver ? await read() : found
    if (current === null) throw new GatewayRejection(401)
    this.#touch(current, now)
    return current
  }

  async #readKey(hash: Buffer): Promise<Authenticated | null> {
    const found = await findCredential(this.#services.sql, hash)
    if (found === null || (found.expires_at && found.expires_at <= this.#services.clock.now())) return null
    const { organization, expires_at, id, name, scopes } = found
    return { credential: { type: 'api_key', id, name, scopes }, organization, validUntil: expires_at }
  }

  async #readToken(token: string): Promise<Authenticated> {
    const { trust, claims, validUntil } = await this.#tokens.verify(token)
    const { id, name, scopes, organization, expires_at } = trust
    const job = readTokenJob(trust.provider, claims, trust.issuer)
    return {
      credential: { type: 'oidc_trust', id, name, scopes, job },
      organization,
      validUntil: expires_at !== null && expires_at < validUntil ? expires_at : validUntil,
    }
  }

  #touch({ credential, organization }: Authenticated, now: Date): void {
    const minute = Math.floor(now.getTime() / MINUTE_MS) * MINUTE_MS
    if (this.#touched.get(credential.id) === minute) return
    this.#touched.set(credential.id, minute)
    const { sql, log } = this.#services
    updateLastUse(sql, organization.id, credential, new Date(minute)).catch((err) =>
      log.warn({ err }, 'Could not store last_used_at'),
    )
  }
}

/** A token has parts that are separated by dots. A key has none. */
function isToken(bearer: string): boolean {
  return bearer.includes('.')
}
