import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import { DURATION_DAYS_MAX } from '../../platform/clock.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { readPage, sendPage } from '../../platform/http/lists.ts'
import { sendData } from '../../platform/http/responses.ts'
import { Envelope, ListEnvelope } from '../../platform/http/schemas.ts'
import { update } from '../../platform/queue/update.ts'
import type { Services } from '../../services.ts'
import { listContext } from '../actor.ts'
import { APP_PATH, ORGANIZATION_PATH } from '../gateway/authorize-people.ts'
import { OrganizationPath } from '../gateway/open-to-people.ts'
import { toMemberAuthor } from './author.ts'
import {
  assignMemberRole,
  removeMember,
  removeOwnMembership,
  updateMemberAccess,
  updateProviderAccount,
} from './manage-members.ts'
import {
  Member,
  MemberPath,
  MemberQuery,
  NewProviderAccount,
  NewRoleOfMember,
  ProviderAccountPath,
} from './member.schema.ts'
import { findMemberJson, listMembers } from './member-list.store.ts'

const PATH = `${ORGANIZATION_PATH}/members`
const CHANGE: FastifyContextConfig = {
  permission: 'manage_members',
  fresh: true,
  updates: ({ params }) => [update('member', params.user_id)],
}
const TAGS = ['Members and roles']
const RULES =
  '403 `own_membership` for your own membership. 403 `insufficient_permission` if the member has a permission that ' +
  'you lack. 409 `last_org_admin` if no active Org admin would remain.'

export async function registerMemberRoutes(app: HttpServer, services: Services): Promise<void> {
  app.get(
    PATH,
    {
      config: { permission: 'manage_members' },
      schema: {
        operationId: 'listMembers',
        summary: 'List members',
        description: 'Returns the members of the organization, newest first.',
        tags: TAGS,
        params: OrganizationPath,
        querystring: MemberQuery,
        response: { 200: ListEnvelope(Member, 'A page of members.') },
      },
    },
    async (request, reply) => {
      const { query, actor } = request
      // Members do not fall under the data retention of the plan.
      const context = { ...listContext(services, request), retentionDays: 10 * DURATION_DAYS_MAX }
      const page = readPage(query, context)
      const { search, role, status } = query
      const rows = await listMembers(services.sql, actor.org_id, page, { search, role, status })
      return sendPage(reply, { rows, page, query, context })
    },
  )

  app.get(
    `${PATH}/:user_id`,
    {
      config: { permission: 'manage_members' },
      schema: {
        operationId: 'getMember',
        summary: 'Get a member',
        description: 'Returns a member of the organization.',
        tags: TAGS,
        params: MemberPath,
        response: { 200: Envelope(Member, 'The member.') },
      },
    },
    (request, reply) => sendMember(request, reply, request.params.user_id),
  )

  app.patch(
    `${PATH}/:user_id`,
    {
      config: CHANGE,
      schema: {
        operationId: 'changeMemberRole',
        summary: "Change a member's role",
        description:
          'Gives a member another role, which takes effect with their next request. You can only give permissions ' +
          `that you have.\n\nErrors: 400 \`invalid_request\` for an unknown role. ${RULES}`,
        tags: TAGS,
        params: MemberPath,
        body: NewRoleOfMember,
        response: { 200: Envelope(Member, 'The changed member.') },
      },
    },
    async (request, reply) => {
      await assignMemberRole(services, toTarget(request), request.body.role)
      return sendMember(request, reply, request.params.user_id)
    },
  )

  for (const isEnabled of [false, true]) {
    const verb = isEnabled ? 'enable' : 'disable'
    const effect = isEnabled
      ? 'Gives a disabled member access again.'
      : 'Takes all access to the organization from a member at once. The member keeps the role for a later time.'
    app.post(
      `${PATH}/:user_id/${verb}`,
      {
        config: CHANGE,
        schema: {
          operationId: `${verb}Member`,
          summary: `${isEnabled ? 'Enable' : 'Disable'} a member`,
          description: `${effect} Safe to repeat.\n\nErrors: ${RULES}`,
          tags: TAGS,
          params: MemberPath,
          response: { 200: Envelope(Member, 'The changed member.') },
        },
      },
      async (request, reply) => {
        await updateMemberAccess(services, toTarget(request), isEnabled)
        return sendMember(request, reply, request.params.user_id)
      },
    )
  }

  app.delete(
    `${PATH}/:user_id`,
    {
      config: CHANGE,
      schema: {
        operationId: 'removeMember',
        summary: 'Remove a member',
        description: `Removes a member from the organization at once. Their account remains.\n\nErrors: ${RULES}`,
        tags: TAGS,
        params: MemberPath,
        response: { 204: { type: 'null', description: 'The member was removed.' } },
      },
    },
    async (request, reply) => {
      await removeMember(services, toTarget(request))
      return reply.code(204).send(null)
    },
  )

  app.delete(
    `${APP_PATH}/account/organizations/:org`,
    {
      config: { signedIn: true, fresh: true, limited: true },
      schema: {
        operationId: 'leaveOrganization',
        summary: 'Leave an organization',
        description:
          'Ends your membership at once. You come back only with an invitation.\n\nErrors: 404 `not_found` if you are ' +
          'not a member. 409 `last_org_admin` if no active Org admin would remain.',
        tags: ['Account'],
        params: OrganizationPath,
        response: { 204: { type: 'null', description: 'You are no longer a member.' } },
      },
    },
    async ({ session: { user_id, name, membership } }, reply) => {
      if (membership === null) throw createNotFoundError('organization')
      const { id } = membership.organization
      await removeOwnMembership(services, id, { userId: user_id, name })
      services.updates.note(id, [update('member', user_id)])
      return reply.code(204).send(null)
    },
  )

  app.put(
    `${PATH}/:user_id/provider-accounts/:provider`,
    {
      config: CHANGE,
      schema: {
        operationId: 'setProviderAccount',
        summary: "Set a member's account at a code host",
        description:
          'States who a member is at a code host. A person cannot approve the deployment of a run that they started ' +
          'there.\n\nErrors: 409 `provider_account_taken` if another member has the account. 403 `own_membership` if ' +
          'you change or remove your own account: you can only set it once.',
        tags: TAGS,
        params: ProviderAccountPath,
        body: NewProviderAccount,
        response: { 200: Envelope(Member, 'The changed member.') },
      },
    },
    async (request, reply) => {
      const account = { provider: request.params.provider, login: request.body.login }
      await updateProviderAccount(services, toTarget(request), account)
      return sendMember(request, reply, request.params.user_id)
    },
  )

  app.delete(
    `${PATH}/:user_id/provider-accounts/:provider`,
    {
      config: CHANGE,
      schema: {
        operationId: 'removeProviderAccount',
        summary: "Remove a member's account at a code host",
        description:
          'Removes the account of a member at a code host.\n\nErrors: 403 `own_membership` for your own account.',
        tags: TAGS,
        params: ProviderAccountPath,
        response: { 204: { type: 'null', description: 'The account was removed.' } },
      },
    },
    async (request, reply) => {
      const account = { provider: request.params.provider, login: null }
      await updateProviderAccount(services, toTarget(request), account)
      return reply.code(204).send(null)
    },
  )

  async function sendMember({ actor }: Pick<FastifyRequest, 'actor'>, reply: FastifyReply, userId: string) {
    const json = await findMemberJson(services.sql, actor.org_id, userId)
    if (json === null) throw createNotFoundError('member')
    return sendData(reply, json)
  }
}

function toTarget({ actor, params }: Pick<FastifyRequest, 'actor'> & { params: { user_id: string } }) {
  return { orgId: actor.org_id, userId: params.user_id, author: toMemberAuthor(actor) }
}
