import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { sendData } from '../../platform/http/responses.ts'
import { Envelope } from '../../platform/http/schemas.ts'
import { update } from '../../platform/queue/update.ts'
import type { Services } from '../../services.ts'
import { ORGANIZATION_PATH } from '../gateway/authorize-people.ts'
import { OrganizationPath } from '../gateway/open-to-people.ts'
import { toMemberAuthor } from './author.ts'
import { createRole, deleteRole, findListedRole, listRoles, updateRole } from './manage-roles.ts'
import { NewRole, Role, RoleChange, RolePath } from './member.schema.ts'

const PATH = `${ORGANIZATION_PATH}/roles`
const TAGS = ['Members and roles']

export async function registerRoleRoutes(app: HttpServer, services: Services): Promise<void> {
  app.get(
    PATH,
    {
      config: { permission: 'manage_members' },
      schema: {
        operationId: 'listRoles',
        summary: 'List roles',
        description: 'Returns the built-in roles, then the custom roles by name.',
        tags: TAGS,
        params: OrganizationPath,
        response: { 200: Envelope(Type.Array(Role), 'The roles.') },
      },
    },
    async ({ actor }, reply) => sendData(reply, JSON.stringify(await listRoles(services, actor.org_id))),
  )

  app.get(
    `${PATH}/:id`,
    {
      config: { permission: 'manage_members' },
      schema: {
        operationId: 'getRole',
        summary: 'Get a role',
        description: 'Returns a built-in or custom role.',
        tags: TAGS,
        params: RolePath,
        response: { 200: Envelope(Role, 'The role.') },
      },
    },
    ({ actor, params }, reply) => send(actor.org_id, params.id, reply),
  )

  app.post(
    PATH,
    {
      config: { permission: 'manage_members', fresh: true, updates: ({ created }) => [update('role', created)] },
      schema: {
        operationId: 'createRole',
        summary: 'Create a custom role',
        description:
          'Creates a role with any set of permissions that you have.\n\nErrors: 403 `insufficient_permission` for a ' +
          'permission that you lack. 409 `role_name_taken`, `too_many_roles`.',
        tags: TAGS,
        params: OrganizationPath,
        body: NewRole,
        response: { 201: Envelope(Role, 'The role was created.') },
      },
    },
    async (request, reply) => {
      const role = await createRole(services, toWriter(request), request.body)
      request.created = role.id
      return sendData(reply.code(201), JSON.stringify(role))
    },
  )

  app.patch(
    `${PATH}/:id`,
    {
      config: { permission: 'manage_members', fresh: true, updates: ({ params }) => [update('role', params.id)] },
      schema: {
        operationId: 'changeRole',
        summary: 'Change a custom role',
        description:
          'Changes the name or the permissions of a custom role. Members with the role have the new permissions with ' +
          'their next request.\n\nErrors: 403 `insufficient_permission` if the role has, or gets, a permission that you ' +
          'lack. 403 `own_membership` for your own role. 409 `role_built_in`, `role_name_taken`.',
        tags: TAGS,
        params: RolePath,
        body: RoleChange,
        response: { 200: Envelope(Role, 'The changed role.') },
      },
    },
    async (request, reply) => {
      await updateRole(services, toWriter(request), request.params.id, request.body)
      return send(request.actor.org_id, request.params.id, reply)
    },
  )

  app.delete(
    `${PATH}/:id`,
    {
      config: { permission: 'manage_members', fresh: true, updates: ({ params }) => [update('role', params.id)] },
      schema: {
        operationId: 'deleteRole',
        summary: 'Delete a custom role',
        description:
          'Deletes a custom role that nobody has.\n\nErrors: 409 `role_in_use` if a member or an open invitation has the ' +
          'role. 409 `role_built_in`. 403 `insufficient_permission` if the role has a permission that you lack.',
        tags: TAGS,
        params: RolePath,
        response: { 204: { type: 'null', description: 'The role was deleted.' } },
      },
    },
    async (request, reply) => {
      await deleteRole(services, toWriter(request), request.params.id)
      return reply.code(204).send(null)
    },
  )

  async function send(orgId: string, id: string, reply: Parameters<typeof sendData>[0]) {
    return sendData(reply, JSON.stringify(await findListedRole(services, orgId, id)))
  }
}

function toWriter({ actor }: Pick<FastifyRequest, 'actor'>) {
  return { orgId: actor.org_id, author: toMemberAuthor(actor) }
}
