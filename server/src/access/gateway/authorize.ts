import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { planRequired } from '../../errors/organizations.ts'
import { getPlan, type PlanFeature } from '../../organizations/plan.ts'
import { GatewayRejection } from '../../platform/http/api-error.ts'
import { assignOrganization } from '../../platform/work.ts'
import type { Services } from '../../services.ts'
import type { Actor } from '../actor.ts'
import { TokenRejection } from '../oidc-trusts/tokens/token-rejection.ts'
import { TRUST_SCOPES } from '../oidc-trusts/trusts/trust-request.ts'
import type { Scope } from '../scopes.ts'
import { type Authenticated, Authenticator } from './authenticator.ts'
import { type LimitedKind, RequestLimits } from './request-limits.ts'
import { requireFeature } from './require-feature.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Scope that a credential needs for this route. */
    scope?: Scope
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
    request.actor = toActor(await admit(authenticator, request), services)
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
  const isForJobs = TRUST_SCOPES.some((scope) => scope === config?.scope)
  const token = isForJobs ? ' Accepts the OIDC token of a CI job in place of an API key.' : ''
  schema.description =
    `${schema.description ?? ''}\n\nRequires the scope \`${config?.scope}\`${feature}.${token}`.trim()
}

/**
 * Returns the credential of a request that may use a route. The body of a rejection is not the
 * error envelope, and never states the reason; the reason why a token is rejected is logged.
 */
async function admit(authenticator: Authenticator, request: FastifyRequest): Promise<Authenticated> {
  const { scope, tokenOnly } = request.routeOptions.config
  try {
    const found = await authenticator.authenticate(parseBearerToken(request.headers.authorization) ?? '')
    const { credential } = found
    if (tokenOnly && credential.type !== 'oidc_trust') throw new GatewayRejection(401)
    if (!credential.scopes.includes(scope as Scope)) throw new GatewayRejection(403)
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

function toActor({ credential, organization }: Authenticated, { plans }: Services): Actor {
  return { org_id: organization.id, organization, plan: getPlan(organization, plans), credential }
}

function requireApiAccess({ plan }: Actor): void {
  if (plan.features.includes('api_access')) return
  const message = `The plan ${plan.name} does not include API access.`
  throw planRequired(message, { reason: 'API_ACCESS' })
}
