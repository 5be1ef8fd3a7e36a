import type { FastifyRequest } from 'fastify'
import { listContext, toPrincipal } from '../../access/actor.ts'
import { ORGANIZATION_PATH } from '../../access/gateway/authorize-people.ts'
import { OrganizationPath, OrganizationSlug } from '../../access/gateway/open-to-people.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { readPage, sendPage } from '../../platform/http/lists.ts'
import { sendData } from '../../platform/http/responses.ts'
import { Closed, Envelope, ListEnvelope } from '../../platform/http/schemas.ts'
import { update } from '../../platform/updates/update.ts'
import type { Services } from '../../services.ts'
import { createTriage } from './create-triage.ts'
import { NewTriageRequest, Triage, TriageId, TriageQuery } from './triage.schema.ts'
import { findTriageJson, listTriages } from './triage-list.store.ts'
import { undoTriage } from './undo-triage.ts'

const PATH = `${ORGANIZATION_PATH}/security/triage`
const TriagePath = Closed({ org: OrganizationSlug, id: TriageId })

/** What a triage changes besides itself. */
const TRIAGED = [update('issue'), update('finding'), update('alert')]

export async function registerTriageRoutes(app: HttpServer, services: Services): Promise<void> {
  const { sql } = services

  app.post(
    PATH,
    {
      config: { permission: 'triage', updates: ({ created }) => [update('triage', created), ...TRIAGED] },
      schema: {
        operationId: 'createTriage',
        summary: 'Dismiss or reopen findings, issues or alerts',
        description:
          'Dismisses or reopens up to 1,000 findings, issues or alerts: all of them, or none. Later reports do not change ' +
          'the decision. A dismissal of an issue dismisses its findings, and findings that join the issue later. The ' +
          'alert of a finding is dismissed or reopened on its code host as well.\n\nErrors: 404 `not_found` if one of them ' +
          'does not exist (`details.ids`). 409 `not_open` if one of them cannot be dismissed, because it is fixed or a ' +
          'person has dismissed it. 409 `not_dismissed` if one of them cannot be reopened. 409 `not_connected` if the ' +
          'repository of an alert is not connected. 503 `unavailable` if a report of the repository is being processed.',
        tags: ['Triage'],
        params: OrganizationPath,
        body: NewTriageRequest,
        response: { 201: Envelope(Triage, 'The triage.') },
      },
    },
    async (request, reply) => {
      const { actor, body } = request
      const id = await createTriage(services, actor.org_id, toPrincipal(actor), body)
      request.created = id
      reply.code(201)
      return sendData(reply, (await findTriageJson(sql, actor.org_id, id)) as string)
    },
  )

  app.get(
    PATH,
    {
      config: { permission: 'view' },
      schema: {
        operationId: 'listTriages',
        summary: 'List triages',
        description:
          'Returns dismissals, reopenings, splits and merges by people, and what VEX documents dismiss, newest first.',
        tags: ['Triage'],
        params: OrganizationPath,
        querystring: TriageQuery,
        response: { 200: ListEnvelope(Triage, 'A page of triages.') },
      },
    },
    async (request, reply) => {
      const { actor, query } = request
      const context = listContext(services, request as FastifyRequest)
      const page = readPage(query, context)
      const rows = await listTriages(sql, actor.org_id, page, query)
      return sendPage(reply, { rows, page, query, context })
    },
  )

  app.get(
    `${PATH}/:id`,
    {
      config: { permission: 'view' },
      schema: {
        operationId: 'getTriage',
        summary: 'Get a triage',
        description: 'Returns a dismissal, a reopening, a split or a merge.',
        tags: ['Triage'],
        params: TriagePath,
        response: { 200: Envelope(Triage, 'The triage.') },
      },
    },
    async ({ actor, params }, reply) => {
      const json = await findTriageJson(sql, actor.org_id, params.id)
      if (json === null) throw createNotFoundError('triage')
      return sendData(reply, json)
    },
  )

  app.post(
    `${PATH}/:id/undo`,
    {
      config: { permission: 'triage', updates: ({ params }) => [update('triage', params.id), ...TRIAGED] },
      schema: {
        operationId: 'undoTriage',
        summary: 'Undo a triage',
        description:
          'Undoes a triage: its findings, issues and alerts are again as they would be without it.\n\nErrors: 409 ' +
          '`triage_ended` if the triage was undone or has expired. 409 `triaged_again` if something that it changed was ' +
          'triaged later (`details.ids` has the later triages). 409 `stated_by_document` if a VEX document states the ' +
          'triage. 503 `unavailable` if a report of the repository is being processed.',
        tags: ['Triage'],
        params: TriagePath,
        response: { 200: Envelope(Triage, 'The triage, which has ended.') },
      },
    },
    async ({ actor, params }, reply) => {
      await undoTriage(services, actor.org_id, toPrincipal(actor), params.id)
      return sendData(reply, (await findTriageJson(sql, actor.org_id, params.id)) as string)
    },
  )
}
