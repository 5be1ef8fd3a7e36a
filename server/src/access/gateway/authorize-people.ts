import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { insufficientPermission } from '../../errors/organizations.ts'
import { crossSiteRequest, freshSignInRequired, limitedSession, notSignedIn } from '../../errors/sign-in.ts'
import { isSlug } from '../../organizations/organization.ts'
import { getPlan } from '../../organizations/plan.ts'
import { MINUTE_MS } from '../../platform/clock.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import { assignOrganization } from '../../platform/tracing.ts'
import type { Services } from '../../services.ts'
import { type Actor, requireFeature } from '../actor.ts'
import { BUILT_IN_ROLES, type Permission } from '../role.ts'
import { getOwnOrigins } from '../sign-in/relying-party.ts'
import { type FoundSession, findSession, updateSessionLastUse } from '../sign-in/session.store.ts'
import {
  defineSessionCookie,
  FRESH_MS_MAX,
  hashSessionToken,
  isFresh,
  isLive,
  isSessionToken,
  readSessionCookie,
  type SessionCookie,
} from '../sign-in/session.ts'
import { RequestLimits } from './request-limits.ts'

/** The application's own API. Its routes of an organization start with `ORGANIZATION_PATH`. */
export const APP_PATH = '/app/api'
export const ORGANIZATION_PATH = `${APP_PATH}/orgs/:org`

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Permission that a person needs for this route; of several, any one. On a route under /v1 it
     * also opens the route to people, under `ORGANIZATION_PATH`.
     */
    permission?: Permission | readonly Permission[]
    /** Open to every person who is signed in. For routes of no organization. */
    signedIn?: true
    /** Requires a sign-in of the last 15 minutes. */
    fresh?: true
    /**
     * A route of an account that is also open to sessions of an organization's identity provider.
     * It keeps to what concerns the organization.
     */
    limited?: true
  }
  interface FastifyRequest {
    /** Set on every route of people that is not public. */
    session: FoundSession
  }
}

/**
 * Checks the session, the permission, the plan and the rate limit of every request to the
 * application's API (console.md §3).
 */
export function registerPeople(app: FastifyInstance, services: Services): void {
  const cookie = defineSessionCookie(services.config.baseUrl)
  const limits = new RequestLimits(services)
  app.addHook('onRoute', ({ url, method, config }) => {
    if (!url.startsWith(APP_PATH) || config?.public || config?.signedIn) return
    if (config?.permission && url.startsWith(ORGANIZATION_PATH)) return
    throw new Error(`${method} ${url} declares no permission: write config: { permission }, { signedIn } or { public }`)
  })
  app.decorateRequest('session', null as unknown as FoundSession)
  app.addHook('onRequest', async (request, reply) => {
    if (!request.routeOptions.url?.startsWith(APP_PATH)) return
    reply.header('cache-control', 'no-store')
    requireSameOrigin(request, services.config.baseUrl)
    if (request.routeOptions.config.public) return
    await admit(services, cookie, request)
    await limits.countOf(request.session.user_id, reply as FastifyReply)
  })
}

async function admit(services: Services, cookie: SessionCookie, request: FastifyRequest): Promise<void> {
  const { permission, feature, fresh } = request.routeOptions.config
  const session = await findLiveSession(services, cookie, request)
  if (session === null) throw notSignedIn('Sign in first.')
  request.session = session
  if (permission) {
    request.actor = toActor(session, services)
    assignOrganization(request.actor.org_id)
    requirePermission(request.actor, permission)
    requireFeature(request.actor, feature, services)
  }
  refuseLimitedSession(session, request)
  if (fresh && !isFresh(session, services.clock.now())) throw freshSignInRequired(FRESH_MS_MAX / 1000)
}

/**
 * An organization decides whom its identity provider signs in. So that it cannot take over the
 * accounts of its members in other organizations, its sessions neither change nor read accounts.
 */
function refuseLimitedSession({ org_id }: FoundSession, { routeOptions: { url = '', config } }: FastifyRequest): void {
  if (org_id === null || config.limited || !url.startsWith(`${APP_PATH}/account`)) return
  throw limitedSession()
}

/** The session of a request, if it was not ended and has not expired. */
export async function findLiveSession({ sql, clock }: Services, cookie: SessionCookie, request: FastifyRequest) {
  const token = readSessionCookie(request, cookie)
  if (token === null || !isSessionToken(token)) return null
  const { org = '' } = request.params as { org?: string }
  const session = await findSession(sql, hashSessionToken(token), isSlug(org) ? org : null)
  const now = clock.now()
  if (session === null || !isLive(session, now)) return null
  const minute = new Date(Math.floor(now.getTime() / MINUTE_MS) * MINUTE_MS)
  if (session.last_used_at >= minute) return session
  await updateSessionLastUse(sql, session.id, minute)
  return { ...session, last_used_at: minute }
}

/** An organization that the user does not belong to is a 404, like one that does not exist. */
function toActor({ user_id, name, email, membership }: FoundSession, { plans }: Services): Actor {
  if (membership === null) throw createNotFoundError('organization')
  const { organization, built_in_role, custom_permissions } = membership
  const permissions = built_in_role === null ? (custom_permissions ?? []) : BUILT_IN_ROLES[built_in_role].permissions
  const credential = { type: 'user', id: user_id, name, email, permissions } as const
  return { org_id: organization.id, organization, plan: getPlan(organization, plans), credential }
}

/** Throws 403 `insufficient_permission` unless the person has one of the permissions. */
export function requirePermission({ credential }: Actor, needed: Permission | readonly Permission[]): void {
  const anyOf = [needed].flat() as Permission[]
  if (credential.type === 'user' && anyOf.some((permission) => credential.permissions.includes(permission))) return
  const message = `Your role does not have the permission ${anyOf.join(' or ')}.`
  throw insufficientPermission(message, { requiredPermission: anyOf[0] })
}

const CSRF_HEADER = 'x-shiplock-csrf'
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS']

/**
 * Refuses a state-changing request unless a page of this server sent it: forms of other sites
 * cannot set the header, and browsers state where a request comes from (console.md §3).
 * Throws 403 `cross_site_request`.
 */
function requireSameOrigin({ method, headers }: FastifyRequest, baseUrl: string): void {
  if (SAFE_METHODS.includes(method)) return
  if (!headers[CSRF_HEADER]) throw crossSiteRequest(`Send the header ${CSRF_HEADER}: 1.`)
  const { origin, 'sec-fetch-site': site } = headers
  if (origin === undefined && site === undefined) throw crossSiteRequest('Send the header Origin or Sec-Fetch-Site.')
  if (site !== undefined && site !== 'same-origin') throw crossSiteRequest('The request comes from another site.')
  const isOwn =
    origin === undefined || (URL.canParse(origin) && getOwnOrigins(baseUrl).includes(new URL(origin).origin))
  if (!isOwn) throw crossSiteRequest('The request comes from another origin.')
}
