import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { planRequired } from '../../errors/organizations.ts'
import type { Organization } from '../../organizations/organization.store.ts'
import { getPlan, type PlanFeature } from '../../organizations/plan.ts'
import { MINUTE_MS } from '../../platform/clock.ts'
import { GatewayRejection } from '../../platform/http/api-error.ts'
import { getNetwork } from '../../platform/http/connection-limits.ts'
import { limitReached } from '../../platform/http/errors.ts'
import { NetworkSlots } from '../../platform/http/network-slots.ts'
import { assignOrganization } from '../../platform/tracing.ts'
import type { Services } from '../../services.ts'
import { AccessCache } from '../access-cache.ts'
import { type Actor, type MachineCredential, requireFeature } from '../actor.ts'
import { ACCESS_CHANNEL, findCredential } from '../api-key.store.ts'
import { hashApiKey, isApiKey } from '../api-key.ts'
import { updateLastUse } from '../credential.store.ts'
import { readTokenJob } from '../oidc-trusts/read-token-job.ts'
import { getUnusual } from '../oidc-trusts/trusted-events.ts'
import { requirePinned } from '../oidc-trusts/trusts/require-pinned.ts'
import { TokenRejection, TokenVerifier } from '../oidc-trusts/trusts/token-verifier.ts'
import { upsertTrustEvent } from '../oidc-trusts/trusts/trust-event.store.ts'
import { TRUST_SCOPES } from '../oidc-trusts/trusts/trust-request.ts'
import type { Scope } from '../scopes.ts'
import { type LimitedKind, RequestLimits } from './request-limits.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Scope that a credential needs for this route; of several, any one. */
    scope?: Scope | readonly Scope[]
    /** Accepts the tokens of CI jobs only, and no API keys. */
    tokenOnly?: true
    /** Feature that the plan must include besides API access. */
    feature?: PlanFeature
    /** Also limits requests of this kind per organization. */
    limitedAs?: LimitedKind
    /** Marks a /v1 route that needs no credential. */
    public?: true
  }
  interface FastifyRequest {
    /** Set on every route with a scope. */
    actor: Actor
  }
}

/**
 * Checks the credential, scope, plan and rate limit of every request to a route with a scope
 * (specification, "Authentication").
 */
export async function registerAuthorization(app: FastifyInstance, services: Services): Promise<void> {
  const authenticator = new Authenticator(services)
  const limits = new RequestLimits(services)
  const stopListening = await authenticator.listen()
  app.addHook('onClose', stopListening)
  app.addHook('onRoute', (route) => {
    if (!route.url.startsWith('/v1') || route.config?.public) return
    if (route.config?.scope) return describeAccess(route)
    throw new Error(`${route.method} ${route.url} declares no scope: write config: { scope } or { public: true }`)
  })
  app.decorateRequest('actor', null as unknown as Actor)
  app.addHook('onRequest', async (request, reply) => {
    const { scope, feature, limitedAs } = request.routeOptions.config
    if (!scope) return
    const { credential, organization } = await admit(authenticator, request)
    request.actor = { org_id: organization.id, organization, plan: getPlan(organization, services.plans), credential }
    assignOrganization(request.actor.org_id)
    requireApiAccess(request.actor)
    requireFeature(request.actor, feature, services)
    await limits.count(request.actor, limitedAs, reply as FastifyReply)
  })
}

/** Adds the scope and the feature that a route requires to its description in OpenAPI. */
function describeAccess({ method, config, schema }: RouteOptions): void {
  if (method === 'HEAD' || !schema) return
  const feature = config?.feature ? ` and a plan with the feature \`${config.feature}\`` : ''
  const scopes = [config?.scope ?? []].flat()
  const isForJobs = scopes.some((scope) => TRUST_SCOPES.includes(scope))
  const token = isForJobs ? ' Accepts the OIDC token of a CI job in place of an API key.' : ''
  schema.description =
    `${schema.description ?? ''}\n\nRequires the scope ${scopes.map((scope) => `\`${scope}\``).join(' or ')}${feature}.${token}`.trim()
}

/**
 * Returns the credential of a request that may use a route. The body of a rejection is not the
 * error envelope, and never states the reason; the reason why a token is rejected is logged.
 */
async function admit(authenticator: Authenticator, request: FastifyRequest): Promise<Authenticated> {
  const { scope, tokenOnly } = request.routeOptions.config
  try {
    const found = await authenticator.authenticate(parseBearerToken(request.headers.authorization) ?? '', request.ip)
    const { credential } = found
    if (tokenOnly && credential.type !== 'oidc_trust') throw new GatewayRejection(401)
    if (![scope ?? []].flat().some((one) => credential.scopes.includes(one))) throw new GatewayRejection(403)
    return found
  } catch (error) {
    const isOfNoToken = tokenOnly && error instanceof GatewayRejection && error.status === 401
    if (error instanceof TokenRejection) throw logRejection(request, error)
    if (isOfNoToken)
      throw logRejection(request, new TokenRejection('invalid', 'The route requires the token of a CI job.'))
    throw error
  }
}

/** Logs why a token is rejected. */
export function logRejection(request: FastifyRequest, rejection: TokenRejection): TokenRejection {
  const { reason, details } = rejection
  request.log.info({ request_id: request.id, reason, details }, 'Rejected the token of a CI job')
  return rejection
}

/**
 * Returns the bearer token of an `Authorization` header (RFC 6750 §2.1), or null. The scheme is
 * case-insensitive.
 */
export function parseBearerToken(header: string | undefined): string | null {
  const match = /^Bearer ([\x21-\x7e]{1,16384})$/i.exec(header ?? '')
  return match?.[1] ?? null
}

function requireApiAccess({ plan }: Actor): void {
  if (plan.features.includes('api_access')) return
  const message = `The plan ${plan.name} does not include API access.`
  throw planRequired(message, { reason: 'API_ACCESS' })
}

/** A credential with its organization, as long as neither expires. */
export type Authenticated = { credential: MachineCredential; organization: Organization; validUntil: Date | null }

type Needs = Pick<Services, 'sql' | 'clock' | 'log' | 'config' | 'outbound'>

const UNKNOWN_BOUNDS = { keptMs: 5_000, entriesMax: 1_000 }
/**
 * Reads of keys that are not known yet. A network that has to wait is slowed down, not locked out.
 */
const UNKNOWN_SHARES = {
  heldMax: 4,
  heldOfNetworkMax: 2,
  waitingMax: 2_000,
  waitingOfNetworkMax: 500,
  createBusyError: () => {
    const message = 'Too many unknown API keys come from this network. Try again later.'
    return limitReached(message, { limit: UNKNOWN_SHARES.waitingOfNetworkMax, resetAt: null }).retryAfter(1)
  },
}

/**
 * Finds the credential that a bearer token stands for: an API key, or the trust of a CI job's
 * token.
 */
export class Authenticator {
  readonly #services: Needs
  readonly #known: AccessCache<Authenticated | null>
  /** What was never found: anybody can make keys of the right form. */
  readonly #unknown: AccessCache<Authenticated | null>
  readonly #turns = new NetworkSlots(UNKNOWN_SHARES)
  readonly #tokens: TokenVerifier
  readonly #touched = new Map<string, number>()

  constructor(services: Needs) {
    this.#services = services
    this.#known = new AccessCache(services.clock)
    this.#unknown = new AccessCache(services.clock, UNKNOWN_BOUNDS)
    this.#tokens = new TokenVerifier(services)
  }

  /**
   * Starts to listen for changes. A reconnect clears the caches, because notifications may have
   * been lost before it.
   */
  async listen(): Promise<() => Promise<void>> {
    const caches = [this.#known, this.#unknown, this.#tokens.trusts]
    const forget = (id: string) => {
      for (const cache of caches) cache.forget(id)
    }
    const subscription = await this.#services.sql.listen(ACCESS_CHANNEL, forget, () => forget('*'))
    return () => subscription.unlisten()
  }

  /**
   * Throws `GatewayRejection`, for tokens `TokenRejection`; 429 if a network sends many unknown
   * keys.
   */
  async authenticate(bearer: string, address: string): Promise<Authenticated> {
    const now = this.#services.clock.now()
    const hash = hashApiKey(bearer)
    const read = isToken(bearer) ? () => this.#readToken(bearer) : () => this.#readKey(hash)
    if (!isToken(bearer) && !isApiKey(bearer, this.#services.config.environment)) throw new GatewayRejection(401)
    const found = await this.#find(hash.toString('hex'), read, isToken(bearer) ? null : getNetwork(address))
    const isOver = found !== null && found.validUntil !== null && found.validUntil <= now
    // The second read finds out what has expired, the token or the trust.
    const current = isOver ? await read() : found
    if (current === null) throw new GatewayRejection(401)
    this.#touch(current, now)
    return current
  }

  /**
   * What was found once is read again at any time. All else waits for the turn of its network, so
   * that keys that somebody makes up take neither the place nor the time of others.
   */
  async #find(id: string, read: () => Promise<Authenticated | null>, network: string | null) {
    if (this.#known.has(id)) return this.#known.find(id, read)
    const readInTurn = network === null ? read : () => this.#turns.run(network, read)
    const found = await this.#unknown.find(id, readInTurn)
    if (found !== null) this.#unknown.move(id, this.#known)
    return found
  }

  async #readKey(hash: Buffer): Promise<Authenticated | null> {
    const found = await findCredential(this.#services.sql, hash)
    if (found === null || (found.expires_at && found.expires_at <= this.#services.clock.now())) return null
    const { organization, expires_at, id, name, scopes, repositories } = found
    return { credential: { type: 'api_key', id, name, scopes, repositories }, organization, validUntil: expires_at }
  }

  async #readToken(token: string): Promise<Authenticated> {
    const { trust, claims, validUntil } = await this.#tokens.verify(token)
    const { id, name, scopes, organization, expires_at } = trust
    const job = readTokenJob(trust, claims)
    await requirePinned(this.#services, trust, job)
    return {
      credential: { type: 'oidc_trust', id, name, scopes, job },
      organization,
      validUntil: expires_at !== null && expires_at < validUntil ? expires_at : validUntil,
    }
  }

  /** True once a minute for each key. */
  #isDue(key: string, minute: number): boolean {
    const isDue = this.#touched.get(key) !== minute
    this.#touched.set(key, minute)
    return isDue
  }

  #touch({ credential, organization }: Authenticated, now: Date): void {
    const minute = Math.floor(now.getTime() / MINUTE_MS) * MINUTE_MS
    const { sql, log } = this.#services
    const unusual = credential.type === 'oidc_trust' && credential.job !== null ? getUnusual(credential.job) : null
    if (unusual !== null && this.#isDue(`${credential.id} ${unusual.event} ${unusual.self_hosted}`, minute)) {
      const trust = { org_id: organization.id, trust_id: credential.id }
      upsertTrustEvent(sql, trust, unusual, now).catch((err) => log.warn({ err }, 'Could not store the event of a job'))
    }
    if (!this.#isDue(credential.id, minute)) return
    updateLastUse(sql, organization.id, credential, new Date(minute)).catch((err) =>
      log.warn({ err }, 'Could not store last_used_at'),
    )
  }
}

/** A token has parts that are separated by dots. A key has none. */
function isToken(bearer: string): boolean {
  return bearer.includes('.')
}
