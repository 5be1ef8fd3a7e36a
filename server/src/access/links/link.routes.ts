import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { createNotFoundError } from '../../platform/http/errors.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { defineErrorResponse } from '../../platform/http/openapi.ts'
import { sendData } from '../../platform/http/responses.ts'
import { Envelope } from '../../platform/http/schemas.ts'
import { update } from '../../platform/queue/update.ts'
import type { Services } from '../../services.ts'
import { APP_PATH, findLiveSession, ORGANIZATION_PATH } from '../gateway/authorize-people.ts'
import { OrganizationPath } from '../gateway/open-to-people.ts'
import { toMemberAuthor } from '../members/author.ts'
import { Invitation, InvitationPath, NewInvitation, SentInvitation } from '../members/member.schema.ts'
import { defineSessionCookie, readSessionCookie, writeSignInCookies } from '../sign-in/session.ts'
import { getSignInPlace } from '../sign-in/start-session.ts'
import { requireEmail } from '../user.ts'
import { type Acceptance as Accepting, acceptLink } from './accept-link.ts'
import { inviteMember, resendInvitation, revokeInvitation, type SentInvitation as Sent } from './invite-member.ts'
import { Acceptance, AcceptedLink, Link, LinkToken, NewPasskeyOfLink, PasskeyOptions } from './link.schema.ts'
import { findInvitation, INVITATIONS_MAX, listInvitations } from './link.store.ts'
import { createLinkPasskeyOptions, describeLink } from './open-link.ts'

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
          '\n\nErrors: 410 `link_not_valid`. ',
        tags: TAGS,
        security: [],
        body: NewPasskeyOfLink,
        response: { 200: Envelope(PasskeyOptions, 'The options.'), 410: LINK_NOT_VALID },
      },
    },
    async ({ body }, reply) => sendData(reply, JSON.stringify(await createLinkPasskeyOptions(services, body))),
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
      const { browser } = visitor.place
      if (sessionToken !== null) writeSignInCookies(reply, cookie, { session: sessionToken, browser })
      return sendData(reply, JSON.stringify(accepted))
    },
  )

  async function visitorOf(request: FastifyRequest) {
    const session = await findLiveSession(services, cookie, request)
    const userId = session?.org_id === null ? session.user_id : null
    return { userId, token: readSessionCookie(request, cookie), place: getSignInPlace(request, cookie) }
  }
}

const INVITATIONS_PATH = `${ORGANIZATION_PATH}/invitations`
const MEMBERS_TAGS = ['Members and roles']

export async function registerInvitationRoutes(app: HttpServer, services: Services): Promise<void> {
  app.get(
    INVITATIONS_PATH,
    {
      config: { permission: 'manage_members' },
      schema: {
        operationId: 'listInvitations',
        summary: 'List open invitations',
        description: `Returns the invitations that were neither accepted nor revoked, newest first. There are at most ${INVITATIONS_MAX}.`,
        tags: MEMBERS_TAGS,
        params: OrganizationPath,
        response: { 200: Envelope(Type.Array(Invitation), 'The open invitations.') },
      },
    },
    async ({ actor }, reply) => {
      const invitations = await listInvitations(services.sql, actor.org_id, services.clock.now())
      return sendData(reply, JSON.stringify(invitations))
    },
  )

  app.get(
    `${INVITATIONS_PATH}/:id`,
    {
      config: { permission: 'manage_members' },
      schema: {
        operationId: 'getInvitation',
        summary: 'Get an open invitation',
        description: 'Returns an invitation that was neither accepted nor revoked.',
        tags: MEMBERS_TAGS,
        params: InvitationPath,
        response: { 200: Envelope(Invitation, 'The invitation.') },
      },
    },
    async ({ actor, params }, reply) => {
      const invitation = await findInvitation(services.sql, actor.org_id, params.id, services.clock.now())
      if (invitation === null) throw createNotFoundError('invitation')
      return sendData(reply, JSON.stringify(invitation))
    },
  )

  app.post(
    INVITATIONS_PATH,
    {
      config: { permission: 'manage_members', fresh: true, updates: ({ created }) => [update('invitation', created)] },
      schema: {
        operationId: 'inviteMember',
        summary: 'Invite a person',
        description:
          'Makes a link with which the owner of an email address joins the organization. The link can be used once, ' +
          'within 7 days, and only while you could still make it. It is mailed if the server has SMTP settings; ' +
          'otherwise it is in the response, and you pass it on. An open invitation of the same address is replaced, if you could revoke it.\n\n' +
          'Errors: 400 `invalid_request` for an unknown role. 403 `insufficient_permission` if the role has a ' +
          'permission that you lack. 409 `already_member`, `too_many_invitations`.',
        tags: MEMBERS_TAGS,
        params: OrganizationPath,
        body: NewInvitation,
        response: { 201: Envelope(SentInvitation, 'The invitation was made.') },
      },
    },
    async (request, reply) => {
      const wanted = { email: requireEmail(request.body.email), roleId: request.body.role }
      const sent = await inviteMember(services, toInviter(request), wanted)
      request.created = sent.id
      return sendData(reply.code(201), JSON.stringify(toShown(sent)))
    },
  )

  app.post(
    `${INVITATIONS_PATH}/:id/resend`,
    {
      config: { permission: 'manage_members', fresh: true, updates: ({ params }) => [update('invitation', params.id)] },
      schema: {
        operationId: 'resendInvitation',
        summary: 'Send an invitation again',
        description:
          'Makes a new link for an open invitation, which is valid for 7 days again. The earlier link is no longer ' +
          'valid.\n\nErrors: 403 `insufficient_permission` if the role has a permission that you lack. 409 `already_member`.',
        tags: MEMBERS_TAGS,
        params: InvitationPath,
        response: { 200: Envelope(SentInvitation, 'The invitation with its new link.') },
      },
    },
    async (request, reply) => {
      const sent = await resendInvitation(services, toInviter(request), request.params.id)
      return sendData(reply, JSON.stringify(toShown(sent)))
    },
  )

  app.delete(
    `${INVITATIONS_PATH}/:id`,
    {
      config: { permission: 'manage_members', updates: ({ params }) => [update('invitation', params.id)] },
      schema: {
        operationId: 'revokeInvitation',
        summary: 'Revoke an invitation',
        description:
          'Revokes an open invitation. Its link is no longer valid.\n\nErrors: 403 `insufficient_permission` if the role ' +
          'has a permission that you lack.',
        tags: MEMBERS_TAGS,
        params: InvitationPath,
        response: { 204: { type: 'null', description: 'The invitation was revoked.' } },
      },
    },
    async (request, reply) => {
      await revokeInvitation(services, toInviter(request), request.params.id)
      return reply.code(204).send(null)
    },
  )
}

function toInviter({ actor }: Pick<FastifyRequest, 'actor'>) {
  return { organization: actor.organization, author: toMemberAuthor(actor) }
}

/** A mailed link proves that its user reads the mailbox, so that nobody else gets to see it. */
function toShown({ link, ...invitation }: Sent) {
  return { ...invitation, link: invitation.mail === 'not_configured' ? link : null }
}
