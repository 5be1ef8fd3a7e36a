import { Type } from 'typebox'
import { toAuthor } from '../../access/actor.ts'
import { ORGANIZATION_PATH } from '../../access/gateway/authorize-people.ts'
import { DeletionQuery, ItemPath, OrganizationPath } from '../../access/gateway/open-to-people.ts'
import { isChangedByTwo } from '../../organizations/organization.store.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Closed, Envelope } from '../../platform/http/schemas.ts'
import { isUuid } from '../../platform/ids.ts'
import { update } from '../../platform/queue/update.ts'
import type { Services } from '../../services.ts'
import { createGate, deleteGate, updateGate } from './configure-gate.ts'
import { ConfiguredGate, GateUpdate, GateVersion, ListedGate, NewConfiguredGate } from './configured-gate.schema.ts'
import { findGate, listGateVersions } from './configured-gate.store.ts'
import { listGatesWithProblems } from './list-gate-problems.ts'
import { PendingChange } from './pending-change.schema.ts'
import { createPendingChange, toGateChange, toGateCreation } from './pending-change.ts'

const PATH = `${ORGANIZATION_PATH}/gates`
const READ = { permission: ['view', 'manage_gates'] } as const
const tags = ['Gates']
const WAITS = Envelope(PendingChange, 'The change waits for a second person (`two_person_changes`).')

export async function registerConfiguredGateRoutes(app: HttpServer, services: Services): Promise<void> {
  const { sql } = services

  app.get(
    PATH,
    {
      config: READ,
      schema: {
        operationId: 'listConfiguredGates',
        summary: 'List gates',
        description:
          'Returns the configured gates of the organization, at most 1,000, in the order in which deployments require them.',
        tags,
        params: OrganizationPath,
        response: { 200: Envelope(Type.Array(ListedGate), 'The gates, oldest first.') },
      },
    },
    async ({ actor }) => ({ data: await listGatesWithProblems(sql, actor.org_id) }),
  )

  app.post(
    PATH,
    {
      config: { permission: 'manage_gates', fresh: true, updates: ({ created }) => [update('gate', created)] },
      schema: {
        operationId: 'createConfiguredGate',
        summary: 'Create a gate',
        description:
          'Creates a gate. It applies to deployments that are created afterwards, and to waiting ones that no gate covers. ' +
          'By default, it covers every repository and branch, and requires one approval by a person who did not open the deployment.\n\nErrors: 400 ' +
          '`invalid_request` for a pattern that is not valid. 409 `name_taken` if a gate has the name. 409 ' +
          '`too_many_gates` if the organization has 1,000 gates.',
        tags,
        params: OrganizationPath,
        body: NewConfiguredGate,
        response: { 201: Envelope(ConfiguredGate, 'The gate was created.'), 202: WAITS },
      },
    },
    async (request, reply) => {
      const { actor, body } = request
      const { reason: _, ...given } = body
      const settings = { ...DEFAULTS, ...given }
      if (await isChangedByTwo(sql, actor.org_id)) {
        const change = await createPendingChange(services, actor, toAuthor(actor, body), toGateCreation(settings))
        return reply.code(202).send({ data: change })
      }
      const gate = await createGate(services, actor.org_id, toAuthor(actor, body), settings)
      request.created = gate.id
      return reply.code(201).send({ data: gate })
    },
  )

  app.get(
    `${PATH}/:id`,
    {
      config: READ,
      schema: {
        operationId: 'getConfiguredGate',
        summary: 'Get a gate',
        description: 'Returns one configured gate.',
        tags,
        params: ItemPath,
        response: { 200: Envelope(ConfiguredGate, 'The gate.') },
      },
    },
    async ({ actor, params }) => {
      const gate = isUuid(params.id) ? await findGate(sql, actor.org_id, params.id) : null
      if (gate === null) throw createNotFoundError('gate')
      return { data: gate }
    },
  )

  app.patch(
    `${PATH}/:id`,
    {
      config: { permission: 'manage_gates', fresh: true, updates: ({ params }) => [update('gate', params.id)] },
      schema: {
        operationId: 'updateConfiguredGate',
        summary: 'Change a gate',
        description:
          'Changes the given fields of a gate and stores the next version. Fields equal to the current ones change ' +
          'nothing. Deployments that already require the gate, or are opened within 24 hours, keep the settings from ' +
          'before where these are stricter. A gate that lets openers in is asked as it is now.\n\nErrors: 400 ' +
          '`invalid_request` for a pattern that is not valid. 404 `not_found` if the organization has no such gate. 409 ' +
          '`name_taken` if another gate has the name. 409 `version_conflict` if the gate has another version than ' +
          '`expected_version`.',
        tags,
        params: ItemPath,
        body: GateUpdate,
        response: { 200: Envelope(ConfiguredGate, 'The gate with its current version.'), 202: WAITS },
      },
    },
    async ({ actor, params, body }, reply) => {
      const { reason: _, ...change } = body
      const gate = { org_id: actor.org_id, id: params.id }
      if (await isChangedByTwo(sql, actor.org_id)) {
        const proposed = await toGateChange(services, gate, change)
        const waiting = await createPendingChange(services, actor, toAuthor(actor, body), proposed)
        return reply.code(202).send({ data: waiting })
      }
      return { data: await updateGate(services, gate, toAuthor(actor, body), change) }
    },
  )

  app.delete(
    `${PATH}/:id`,
    {
      config: { permission: 'manage_gates', fresh: true, updates: ({ params }) => [update('gate', params.id)] },
      schema: {
        operationId: 'deleteConfiguredGate',
        summary: 'Delete a gate',
        description:
          'Deletes a gate. Deployments that already require it keep requiring it, and unless it let openers in, those ' +
          'that are opened within 24 hours require it too. Its versions stay stored.\n\nErrors: ' +
          '404 `not_found` if the organization has no such gate.',
        tags,
        params: ItemPath,
        querystring: DeletionQuery,
        response: { 200: Envelope(DeletedGate, 'The gate was deleted.'), 202: WAITS },
      },
    },
    async ({ actor, params, query }, reply) => {
      const gate = { org_id: actor.org_id, id: params.id }
      if (await isChangedByTwo(sql, actor.org_id)) {
        const proposed = await toGateChange(services, gate, null)
        const waiting = await createPendingChange(services, actor, toAuthor(actor, query), proposed)
        return reply.code(202).send({ data: waiting })
      }
      return { data: await deleteGate(services, gate, toAuthor(actor, query)) }
    },
  )

  app.get(
    `${PATH}/:id/versions`,
    {
      config: READ,
      schema: {
        operationId: 'listConfiguredGateVersions',
        summary: 'List the versions of a gate',
        description:
          'Returns the newest 1,000 versions of a gate with who stored them and why, newest first. A deleted gate keeps its ' +
          'versions.\n\nErrors: 404 `not_found` if the organization never had such a gate.',
        tags,
        params: ItemPath,
        response: { 200: Envelope(Type.Array(GateVersion), 'The versions, newest first.') },
      },
    },
    async ({ actor, params }) => {
      const versions = isUuid(params.id) ? await listGateVersions(sql, actor.org_id, params.id) : []
      if (versions.length === 0) throw createNotFoundError('gate')
      return { data: versions }
    },
  )
}

const DeletedGate = Closed({
  id: Type.String({ description: 'The id of the deleted gate.' }),
  name: Type.String({ description: 'The name of the deleted gate.' }),
})

/** The settings of a gate that its request does not state: those of `gate create`. */
const DEFAULTS = {
  repository: null,
  branch: null,
  required_approvals: 1,
  allow_api_keys: false,
  allow_run_creator: false,
  policies: [],
  require_linked_accounts: false,
}
