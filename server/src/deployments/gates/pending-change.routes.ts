import { type Actor, listContext, toAuthor } from '../../access/actor.ts'
import { ORGANIZATION_PATH } from '../../access/gateway/authorize-people.ts'
import { ItemPath, OrganizationPath } from '../../access/gateway/open-to-people.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { readPage, sendPage } from '../../platform/http/lists.ts'
import { Envelope, ListEnvelope } from '../../platform/http/schemas.ts'
import { update } from '../../platform/queue/update.ts'
import type { Services } from '../../services.ts'
import { PendingChange, PendingChangeQuery } from './pending-change.schema.ts'
import { confirmChange, listChanges, removeChange, type Settler } from './pending-change.ts'

const PATH = `${ORGANIZATION_PATH}/pending-changes`
const CHANGE = {
  permission: ['manage_gates', 'manage_policies'],
  fresh: true,
  updates: () => [update('gate'), update('policy')],
} as const
const tags = ['Gates']

/** The routes of changes that wait for a second person. */
export async function registerPendingChangeRoutes(app: HttpServer, services: Services): Promise<void> {
  app.get(
    PATH,
    {
      config: { permission: ['view', 'manage_gates', 'manage_policies'] },
      schema: {
        operationId: 'listPendingChanges',
        summary: 'List changes that wait for a second person',
        description:
          'Returns the changes of gates and policies that wait for a second person, newest first, with what they would ' +
          'replace. There are none unless the organization has `two_person_changes`.',
        tags,
        params: OrganizationPath,
        querystring: PendingChangeQuery,
        response: { 200: ListEnvelope(PendingChange, 'A page of changes.') },
      },
    },
    async (request, reply) => {
      const { query, actor } = request
      const context = listContext(services, request)
      // A change waits however old it is.
      const page = { ...readPage(query, context), since: new Date(0) }
      return sendPage(reply, { rows: await listChanges(services, actor.org_id, page), page, query, context })
    },
  )

  app.post(
    `${PATH}/:id/confirm`,
    {
      config: CHANGE,
      schema: {
        operationId: 'confirmPendingChange',
        summary: 'Confirm a change',
        description:
          'Stores a change of a gate or policy that another person has proposed, in their name. Requires `manage_gates` ' +
          'or `manage_policies`, whichever it is about.\n\nErrors: 404 `not_found` if no such change waits. 409 ' +
          '`second_person_required` for who proposed it, and for who has become a member, or got another role, since. 409 ' +
          '`proposer_refused` if who proposed it may not make it any more. 409 `version_conflict` if the gate or policy has changed since, ' +
          'and the errors of the change itself.',
        tags,
        params: ItemPath,
        response: { 200: Envelope(PendingChange, 'The change, which is in force.') },
      },
    },
    async ({ actor, params }) => ({ data: await confirmChange(services, toSettler(actor), params.id) }),
  )

  app.post(
    `${PATH}/:id/withdraw`,
    {
      config: CHANGE,
      schema: {
        operationId: 'withdrawPendingChange',
        summary: 'Withdraw a change',
        description:
          'Withdraws a change that waits, also that of another person. Requires `manage_gates` or `manage_policies`, ' +
          'whichever it is about.\n\nErrors: 404 `not_found` if no such change waits.',
        tags,
        params: ItemPath,
        response: { 200: Envelope(PendingChange, 'The change, which is withdrawn.') },
      },
    },
    async ({ actor, params }) => ({ data: await removeChange(services, toSettler(actor), params.id) }),
  )
}

function toSettler(actor: Actor): Settler {
  const { org_id, credential } = actor
  const permissions = credential.type === 'user' ? credential.permissions : []
  return { org_id, principal: toAuthor(actor, {}).principal, permissions }
}
