import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import { type PlanFeature, smallestPlanWith } from '../../organizations/plan.ts'
import { MINUTE_MS } from '../../platform/clock.ts'
import { ApiError, GatewayRejection } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import type { Actor } from '../actor.ts'
import { type StoredCredential, touchApiKey } from '../api-keys/api-key.store.ts'
import { isApiKey } from '../api-keys/api-key.ts'
import { CredentialCache } from '../api-keys/credential-cache.ts'
import type { Scope } from '../scopes.ts'
import { type LimitedKind, RequestLimits } from './request-limits.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Scope that a key needs for this route. */
    scope?: Scope
    /** Feature that the plan must include besides API access. */
    feature?: PlanFeature
    /** Also limits requests of this kind per organization. */
    limitedAs?: LimitedKind
    /** Marks a /v1 route that needs no API key. */
    public?: true
  }
  interface FastifyRequest {
    /** Set on every route with a scope. */
    actor: Actor
  }
}

/**
 * Checks the key, scope, plan and rate limit of every request to a route with a scope
 * (specification, "Authentication").
 */
export async function registerAuthorization(app: FastifyInstance, services: Services): Promise<void> {
  const gateway = new Gateway(services)
  const limits = new RequestLimits(services.config.rateLimitPerMinute)
  const stopListening = await gateway.credentials.listen()
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
    const credential = await gateway.admit(request, scope)
    request.actor = toActor(credential, services)
    requireFeature(request.actor, feature, services)
    limits.count(request.actor, limitedAs, services.clock.now(), reply)
  })
}

/** Adds the scope and the feature that a route requires to its description in OpenAPI. */
function describeAccess({ method, config, schema }: RouteOptions): void {
  if (method === 'HEAD' || !schema) return
  const feature = config?.feature ? ` and a plan with the feature \`${config.feature}\`` : ''
  schema.description = `${schema.description ?? ''}\n\nRequires the scope \`${config?.scope}\`${feature}.`.trim()
}

/**
 * Checks the key and its scope. The body of a rejection is not the error envelope, and never states
 * the reason.
 */
class Gateway {
  readonly credentials: CredentialCache
  readonly #services: Services
  readonly #touched = new Map<string, number>()

  constructor(services: Services) {
    this.#services = services
    this.credentials = new CredentialCache(services.sql, services.clock)
  }

  async admit(request: FastifyRequest, scope: Scope): Promise<StoredCredential> {
    const key = bearerToken(request.headers.authorization)
    if (key === null || !isApiKey(key, this.#services.config.environment)) throw new GatewayRejection(401)
    const credential = await this.credentials.find(key)
    const now = this.#services.clock.now()
    if (!credential || (credential.expires_at && credential.expires_at <= now)) throw new GatewayRejection(401)
    this.#touch(credential, now)
    if (!credential.scopes.includes(scope)) throw new GatewayRejection(403)
    return credential
  }

  #touch(credential: StoredCredential, now: Date): void {
    const minute = Math.floor(now.getTime() / MINUTE_MS) * MINUTE_MS
    if (this.#touched.get(credential.id) === minute) return
    this.#touched.set(credential.id, minute)
    const { sql, log } = this.#services
    touchApiKey(sql, credential.organization.id, credential.id, new Date(minute)).catch((err) =>
      log.warn({ err }, 'Could not store last_used_at'),
    )
  }
}

/**
 * Returns the bearer token of an `Authorization` header (RFC 6750 §2.1), or null. The scheme is
 * case-insensitive.
 */
export function bearerToken(header: string | undefined): string | null {
  const match = /^Bearer ([\x21-\x7e]{1,200})$/i.exec(header ?? '')
  return match?.[1] ?? null
}

function toActor(credential: StoredCredential, { plans }: Services): Actor {
  const { organization, id, name, scopes } = credential
  const plan = plans.get(organization.plan)
  if (!plan) throw new Error(`The plan ${organization.plan} of the organization ${organization.slug} does not exist.`)
  return { org_id: organization.id, organization, plan, credential: { type: 'api_key', id, name, scopes } }
}

function requireFeature({ plan }: Actor, feature: PlanFeature | undefined, { plans }: Services): void {
  if (!plan.features.includes('api_access')) {
    throw new ApiError(402, 'plan_required', `The plan ${plan.name} does not include API access.`, {
      reason: 'API_ACCESS',
    })
  }
  if (!feature || plan.features.includes(feature)) return
  const requiredPlan = smallestPlanWith(plans, feature)
  throw new ApiError(402, 'plan_required', `This feature requires the plan ${requiredPlan} or above.`, { requiredPlan })
}
