import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { createNotFoundError } from '../../platform/http/errors.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { sendData } from '../../platform/http/responses.ts'
import { Envelope } from '../../platform/http/schemas.ts'
import { update } from '../../platform/updates/update.ts'
import type { Services } from '../../services.ts'
import { ORGANIZATION_PATH } from '../gateway/authorize-people.ts'
import { OrganizationPath } from '../gateway/open-to-people.ts'
import {
  inviteMember,
  resendInvitation,
  revokeInvitation,
  type SentInvitation as Sent,
} from '../links/invite-member.ts'
import { findInvitation, INVITATIONS_MAX, listInvitations } from '../links/link.store.ts'
import { requireEmail } from '../users/email-address.ts'
import { toMemberAuthor } from './author.ts'
import { Invitation, InvitationPath, NewInvitation, SentInvitation } from './member.schema.ts'

const PATH = `${ORGANIZATION_PATH}/invitations`
const TAGS = ['Members and roles']

export async function registerInvitationRoutes(app: HttpServer, services: Services): Promise<void> {
  app.get(
    PATH,
    {
      config: { permission: 'manage_members' },
      schema: {
        operationId: 'listInvitations',
        summary: 'List open invitations',
        description: `Returns the invitations that were neither accepted nor revoked, newest first. There are at most ${INVITATIONS_MAX}.`,
        tags: TAGS,
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
    `${PATH}/:id`,
    {
      config: { permission: 'manage_members' },
      schema: {
        operationId: 'getInvitation',
        summary: 'Get an open invitation',
        description: 'Returns an invitation that was neither accepted nor revoked.',
        tags: TAGS,
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
    PATH,
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
        tags: TAGS,
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
    `${PATH}/:id/resend`,
    {
      config: { permission: 'manage_members', fresh: true, updates: ({ params }) => [update('invitation', params.id)] },
      schema: {
        operationId: 'resendInvitation',
        summary: 'Send an invitation again',
        description:
          'Makes a new link for an open invitation, which is valid for 7 days again. The earlier link is no longer ' +
          'valid.\n\nErrors: 403 `insufficient_permission` if the role has a permission that you lack. 409 `already_member`.',
        tags: TAGS,
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
    `${PATH}/:id`,
    {
      config: { permission: 'manage_members', updates: ({ params }) => [update('invitation', params.id)] },
      schema: {
        operationId: 'revokeInvitation',
        summary: 'Revoke an invitation',
        description:
          'Revokes an open invitation. Its link is no longer valid.\n\nErrors: 403 `insufficient_permission` if the role ' +
          'has a permission that you lack.',
        tags: TAGS,
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
