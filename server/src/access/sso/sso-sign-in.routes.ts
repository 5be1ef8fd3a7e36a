import { randomBytes } from 'node:crypto'
import { parseCookie, stringifySetCookie } from 'cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { findOrganizationById } from '../../organizations/organization.store.ts'
import { ApiError } from '../../platform/http/api-error.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { defineErrorResponse } from '../../platform/http/openapi.ts'
import { sendData } from '../../platform/http/responses.ts'
import { Envelope } from '../../platform/http/schemas.ts'
import { isLoopback } from '../../platform/loopback.ts'
import type { Services } from '../../services.ts'
import { APP_PATH, findLiveSession } from '../gateway/authorize-people.ts'
import { defineSessionCookie, readSessionCookie, writeSignInCookies } from '../sign-in/session.ts'
import { getSignInPlace } from '../sign-in/start-session.ts'
import { admitPerson, canReplace } from './admit-person.ts'
import { registerIdentityRoutes, type StartAtProvider } from './identity.routes.ts'
import { findProvider } from './open-provider.ts'
import { completeSignIn, REQUEST_MS_MAX, startSignIn } from './provider-sign-in.ts'
import { SsoCallback, SsoQuery, SsoStart, SsoStatus } from './single-sign-on.schema.ts'

const PATH = `${APP_PATH}/sso`
const TAGS = ['Single sign-on']
const REDIRECT = { type: 'null', description: 'The browser goes on to the address in `Location`.' } as const

const PROVIDER_UNAVAILABLE = defineErrorResponse(
  '`identity_provider_unavailable`: the identity provider cannot be read.',
)

/** The sign-in at an OpenID provider. */
export async function registerSsoSignInRoutes(app: HttpServer, services: Services): Promise<void> {
  const cookie = defineSessionCookie(services.config.baseUrl)
  const browserCookie = `${cookie.name}-sso`

  app.get(
    PATH,
    {
      config: { public: true },
      schema: {
        operationId: 'getSsoStatus',
        summary: 'Get whether single sign-on is available',
        description:
          'Returns whether people can sign in with single sign-on: with the provider of the organization, or of the server.',
        tags: TAGS,
        security: [],
        querystring: SsoQuery,
        response: { 200: Envelope(SsoStatus, 'Whether single sign-on is available.') },
      },
    },
    async ({ query: { org } }, reply) => {
      const provider = await findProvider(services, org ?? null)
      const start = `${PATH}/start${org === undefined ? '' : `?org=${org}`}`
      const owner = provider?.org_id ? await findOrganizationById(services.sql, provider.org_id) : null
      const status = { available: provider !== null, organization: owner?.name ?? null, start: provider && start }
      return sendData(reply, JSON.stringify(status))
    },
  )

  app.get(
    `${PATH}/start`,
    {
      config: { public: true },
      exposeHeadRoute: false,
      schema: {
        operationId: 'startSso',
        summary: 'Start a sign-in with single sign-on',
        description:
          'Sends the browser to the identity provider of the organization, or of the server. Open it as a page. A person ' +
          'who is signed in confirms who they are: the provider asks for the password again. The provider of an ' +
          'organization replaces no other session: then the browser is sent to the page on which the person links the ' +
          'identity to their account.\n\nErrors: 404 `not_found` if there is no provider. 502 ' +
          '`identity_provider_unavailable`. Browsers are sent to `/sign-in` with the code.',
        tags: TAGS,
        security: [],
        querystring: SsoStart,
        response: { 302: REDIRECT, 502: PROVIDER_UNAVAILABLE },
      },
    },
    (request, reply) =>
      orShow(request, reply, async () => {
        const elsewhere = sameOnBaseUrl(request, services.config.baseUrl)
        if (elsewhere !== null) return reply.redirect(elsewhere, 302)
        const session = await findLiveSession(services, cookie, request)
        const { org, next } = request.query
        const provider = await findProvider(services, org ?? null)
        if (provider === null) throw createNotFoundError('single sign-on')
        if (!canReplace(provider, session)) return reply.redirect(formatLinkPage(request.query), 302)
        const userId = session?.user_id ?? null
        const address = await start(request, reply, provider, { next, userId, links: false })
        return reply.redirect(address.href, 302)
      }),
  )

  app.get(
    `${PATH}/callback`,
    {
      config: { public: true },
      exposeHeadRoute: false,
      schema: {
        operationId: 'completeSso',
        summary: 'Complete a sign-in with single sign-on',
        description:
          'The identity provider sends the browser here. Starts a session and sets its cookie, or links the identity to ' +
          'the account that has asked for it, and sends the browser on to `next`.\n\nErrors: 400 `sso_failed` if the request is unknown, was completed, has expired or was started in ' +
          'another browser, or if the provider does not confirm it. 403 `sso_refused`; `details.reason` is ' +
          '`email_not_verified`, `domain_not_allowed`, `no_account`, `account_exists`, `disabled`, `no_role`, ' +
          '`not_a_member` or `signed_in`. 502 `identity_provider_unavailable`. Browsers are sent to `/sign-in` with the code.',
        tags: TAGS,
        security: [],
        querystring: SsoCallback,
        response: { 302: REDIRECT, 502: PROVIDER_UNAVAILABLE },
      },
    },
    (request, reply) =>
      orShow(request, reply, async () => {
        const query = new URL(request.url, services.config.baseUrl).searchParams
        const authenticated = await completeSignIn(services, { query, browser: browserOf(request) })
        const { next, links } = authenticated.request
        const place = getSignInPlace(request, cookie)
        const visitor = {
          session: await findLiveSession(services, cookie, request),
          token: readSessionCookie(request, cookie),
          place,
        }
        const admit = async () => {
          const token = await admitPerson(services, authenticated, visitor)
          if (token !== null) writeSignInCookies(reply, cookie, { session: token, browser: place.browser })
          return reply.redirect(next, 302)
        }
        return links ? orShow(request, reply, admit, '/account') : admit()
      }),
  )

  registerIdentityRoutes(app, services, start)

  async function start(...[request, reply, provider, asked]: Parameters<StartAtProvider>): Promise<URL> {
    const browser = browserOf(request) ?? randomBytes(32).toString('base64url')
    const address = await startSignIn(services, provider, { ...asked, browser, ip: request.ip })
    reply.header('set-cookie', browserHeader(browser))
    return address
  }

  function browserOf({ headers }: FastifyRequest): string | null {
    const value = parseCookie(headers.cookie ?? '')[browserCookie]
    return value !== undefined && /^[A-Za-z0-9_-]{43}$/.test(value) ? value : null
  }

  function browserHeader(value: string): string {
    const { secure } = cookie
    const maxAge = REQUEST_MS_MAX / 1000
    return stringifySetCookie({
      name: browserCookie,
      value,
      maxAge,
      path: '/',
      httpOnly: true,
      sameSite: 'lax',
      secure,
    })
  }
}

/** The page of the console that names the organization, and asks whether to link its identity. */
function formatLinkPage({ org = '', next }: { org?: string; next?: string }): string {
  return `/account/link?${new URLSearchParams({ org, ...(next !== undefined && { next }) })}`
}

/**
 * The provider sends the browser to the base URL, where cookies of another name of this machine are
 * not sent. A person who came by that name goes on under the base URL.
 */
function sameOnBaseUrl({ hostname, url }: FastifyRequest, baseUrl: string): string | null {
  const { hostname: own, origin } = new URL(baseUrl)
  return hostname !== own && isLoopback(hostname) && isLoopback(own) ? origin + url : null
}

/** Programs get the error. People who come with a browser get a page that explains it. */
async function orShow(
  request: FastifyRequest,
  reply: FastifyReply,
  work: () => Promise<FastifyReply>,
  page: '/sign-in' | '/account' = '/sign-in',
) {
  try {
    return await work()
  } catch (error) {
    const isPage = request.headers.accept?.includes('text/html') ?? false
    if (!isPage || !(error instanceof ApiError)) throw error
    const reason = error.details.reason ? `&reason=${error.details.reason}` : ''
    return reply.redirect(`${page}?error=${error.code}${reason}`, 302)
  }
}
