import { listContext } from '../../access/actor.ts'
import { computeRetentionStart } from '../../organizations/plan.ts'
import { listRows } from '../../platform/db/page.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { readPage, sendPage } from '../../platform/http/lists.ts'
import { sendData } from '../../platform/http/responses.ts'
import { Envelope, ListEnvelope } from '../../platform/http/schemas.ts'
import type { Services } from '../../services.ts'
import { Alert, AlertPath, AlertQuery } from './alert.schema.ts'
import { findAlert, listAlerts } from './alert.store.ts'

export async function registerAlertRoutes(app: HttpServer, services: Services): Promise<void> {
  app.get(
    '/v1/security/alerts',
    {
      config: { scope: 'read:security', permission: 'view' },
      schema: {
        operationId: 'listAlerts',
        summary: 'List security alerts',
        description: 'Returns the alerts of connected code hosts, newest first.',
        tags: ['Security alerts'],
        querystring: AlertQuery,
        response: { 200: ListEnvelope(Alert, 'A page of alerts.') },
      },
    },
    async (request, reply) => {
      const { query, actor } = request
      const context = listContext(services, request)
      const page = readPage(query, context)
      const { status, severity } = query
      const listed = await services.reads.read((sql) =>
        listRows(sql, { page, query }, (shown) => listAlerts(sql, actor.org_id, shown, { status, severity })),
      )
      return sendPage(reply, { ...listed, page, query, context })
    },
  )

  app.get(
    '/v1/security/alerts/:id',
    {
      config: { scope: 'read:security', permission: 'view' },
      schema: {
        operationId: 'getAlert',
        summary: 'Get a security alert',
        description: 'Returns an alert of a connected code host.',
        tags: ['Security alerts'],
        params: AlertPath,
        response: { 200: Envelope(Alert, 'The alert.') },
      },
    },
    async (request, reply) => {
      const { org_id, plan } = request.actor
      const since = computeRetentionStart(plan, services.clock.now())
      const json = await findAlert(services.sql, org_id, request.params.id, since)
      if (json === null) throw createNotFoundError('alert')
      return sendData(reply, json)
    },
  )
}
