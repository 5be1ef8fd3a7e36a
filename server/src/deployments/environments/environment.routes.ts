import { Type } from 'typebox'
import { toAuthor } from '../../access/actor.ts'
import { ORGANIZATION_PATH } from '../../access/gateway/authorize-people.ts'
import { DeletionQuery, ItemPath, OrganizationPath } from '../../access/gateway/open-to-people.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Envelope } from '../../platform/http/schemas.ts'
import { update } from '../../platform/queue/update.ts'
import type { Services } from '../../services.ts'
import { applyEnvironmentFacts, deleteEnvironment, updateEnvironmentPosition } from './configure-environment.ts'
import { EnvironmentEntry, EnvironmentMove, GivenEnvironment } from './environment.schema.ts'
import { listEnvironmentEntries } from './environment.store.ts'

const PATH = `${ORGANIZATION_PATH}/environments`
const tags = ['Deployments']
const WRITE = {
  permission: 'manage_gates',
  fresh: true,
  updates: () => [update('environment'), update('deployment')],
} as const

export async function registerEnvironmentRoutes(app: HttpServer, services: Services): Promise<void> {
  app.get(
    PATH,
    {
      config: { permission: ['view', 'manage_gates'] },
      schema: {
        operationId: 'listEnvironmentFacts',
        summary: 'List what is stated about environments',
        description:
          'Returns what the organization states about its environments, at most 100 entries. The first one whose globs ' +
          'match an environment and its repository counts.',
        tags,
        params: OrganizationPath,
        response: { 200: Envelope(Type.Array(EnvironmentEntry), 'The entries, in their order.') },
      },
    },
    async ({ actor }) => ({ data: await listEnvironmentEntries(services.sql, actor.org_id) }),
  )

  app.post(
    PATH,
    {
      config: WRITE,
      schema: {
        operationId: 'setEnvironmentFacts',
        summary: 'State facts about environments',
        description:
          'States the exposure and the criticality of environments, and whether they are production. Changes the entry ' +
          'that has the same globs, or adds one behind the others. Facts that are left out stay as they are; null takes ' +
          'one back. The facts hold at once, for past deployments too.\n\nErrors: 400 `invalid_request` for a pattern ' +
          'that is not valid, and if no fact is left. 409 `too_many_environments` if the organization has 100 entries.',
        tags,
        params: OrganizationPath,
        body: GivenEnvironment,
        response: { 200: Envelope(EnvironmentEntry, 'The entry.') },
      },
    },
    async ({ actor, body }) => {
      const { reason: _, ...given } = body
      return { data: await applyEnvironmentFacts(services, actor.org_id, toAuthor(actor, body), given) }
    },
  )

  app.patch(
    `${PATH}/:id`,
    {
      config: WRITE,
      schema: {
        operationId: 'moveEnvironmentFacts',
        summary: 'Move an entry of environments',
        description:
          'Moves an entry to another position. The first entry that matches an environment counts.\n\nErrors: 404 ' +
          '`not_found` if the organization has no such entry.',
        tags,
        params: ItemPath,
        body: EnvironmentMove,
        response: { 200: Envelope(EnvironmentEntry, 'The entry at its new position.') },
      },
    },
    async ({ actor, params, body }) => {
      const move = { org_id: actor.org_id, id: params.id, position: body.position }
      return { data: await updateEnvironmentPosition(services, move, toAuthor(actor, body)) }
    },
  )

  app.delete(
    `${PATH}/:id`,
    {
      config: WRITE,
      schema: {
        operationId: 'deleteEnvironmentFacts',
        summary: 'Delete an entry of environments',
        description:
          'Deletes what an entry states. The next entry that matches counts then.\n\nErrors: 404 `not_found` if the ' +
          'organization has no such entry.',
        tags,
        params: ItemPath,
        querystring: DeletionQuery,
        response: { 200: Envelope(EnvironmentEntry, 'The deleted entry.') },
      },
    },
    async ({ actor, params, query }) => {
      const key = { org_id: actor.org_id, id: params.id }
      return { data: await deleteEnvironment(services, key, toAuthor(actor, query)) }
    },
  )
}
