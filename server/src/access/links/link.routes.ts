import type { FastifyRequest } from 'fastify'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { defineErrorResponse } from '../../platform/http/openapi.ts'
import { sendData } from '../../platform/http/responses.ts'
import { Envelope } from '../../platform/http/schemas.ts'
import type { Services } from '../../services.ts'
import { APP_PATH, findLiveSession } from '../gateway/authorize-people.ts'
import { defineSessionCookie, readSessionCookie, writeSessionCookie } from '../sessions/session-cookie.ts'
import { getSignInPlace } from '../sessions/start-session.ts'
import { type Acceptance as Accepting, acceptLink } from './accept-link.ts'
import { createLinkPasskeyOptions, describeLink } from './inspect-link.ts'
import { Acceptance, AcceptedLink, Link, LinkToken, NewPasskeyOfLink, PasskeyOptions } from './link.schema.ts'

const PATH = `${APP_PATH}/links`
const TAGS = ['Links']

const LINK_NOT_VALID = defineErrorResponse(
  '`link_not_valid`: the link is unknown, was used or revoked, or has expired.',
)

export async function registerLinkRoutes(app: HttpServer, services: Services): Promise<void> {
  const cookie = defineSessionCookie(services.config.baseUrl)

  app.post(
    `${PATH}/inspect`,
    {
      config: { public: true },
      schema: {
        operationId: 'inspectLink',
        summary: 'Inspect a link',
        description:
          'Returns what a one-use link does, without using it. Requires no session.\n\nErrors: 410 `link_not_valid` if ' +
          'the link is unknown, was used or revoked, or has expired.',
        tags: TAGS,
        security: [],
        body: LinkToken,
        response: { 200: Envelope(Link, 'The link.'), 410: LINK_NOT_VALID },
      },
    },
    async (request, reply) => sendData(reply, JSON.stringify(await describeLink(services, request.body.token))),
  )

  app.post(
    `${PATH}/passkey-options`,
    {
      config: { public: true },
      schema: {
        operationId: 'createPasskeyOptionsOfLink',
        summary: 'Start to create a passkey with a link',
        description:
          'Returns the options with which the browser creates the passkey of a new account, or of an account that is ' +
          'reset. Send the result to acceptLink within 10 minutes. The options can be used once. Requires no session.' +
          '\n\nErrors: 410 `link_not_valid`. 429 `rate_limited` after too many requests from this address.',
        tags: TAGS,
        security: [],
        body: NewPasskeyOfLink,
        response: { 200: Envelope(PasskeyOptions, 'The options.'), 410: LINK_NOT_VALID },
      },
    },
    async ({ body, ip: address }, reply) =>
      sendData(reply, JSON.stringify(await createLinkPasskeyOptions(services, { ...body, address }))),
  )

  app.post(
    `${PATH}/accept`,
    {
      config: { public: true },
      schema: {
        operationId: 'acceptLink',
        summary: 'Accept a link',
        description:
          'Uses a one-use link. A new account needs a name, and a password or a passkey; a setup link also needs the ' +
          'email address. A session starts: the response sets its cookie. A person with an account has to be signed in ' +
          'to join another organization, and sends only the token. A reset replaces the password, TOTP and the ' +
          'passkeys, and ends all sessions of the account.\n\nErrors: 410 `link_not_valid`. 400 `weak_password`, ' +
          '`passkey_refused`. 401 `not_signed_in` if an account with the email address exists and you are not signed ' +
          'in. 403 `wrong_account` if you are signed in with another one. 409 `already_member`.',
        tags: TAGS,
        security: [],
        body: Acceptance,
        response: { 200: Envelope(AcceptedLink, 'The link was accepted.'), 410: LINK_NOT_VALID },
      },
    },
    async (request, reply) => {
      const visitor = await visitorOf(request)
      const { sessionToken, ...accepted } = await acceptLink(services, request.body as Accepting, visitor)
      if (sessionToken !== null) writeSessionCookie(reply, cookie, sessionToken)
      return sendData(reply, JSON.stringify(accepted))
    },
  )

  async function visitorOf(request: FastifyRequest) {
    const session = await findLiveSession(services, cookie, request)
    const userId = session?.org_id === null ? session.user_id : null
    return { userId, token: readSessionCookie(request, cookie), place: getSignInPlace(request) }
  }
}
