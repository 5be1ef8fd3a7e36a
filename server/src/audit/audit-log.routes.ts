import { Readable } from 'node:stream'
import { Type } from 'typebox'
import { listContext, toPrincipal } from '../access/actor.ts'
import { ORGANIZATION_PATH } from '../access/gateway/authorize-people.ts'
import { OrganizationPath } from '../access/gateway/open-to-people.ts'
import { listRows } from '../platform/db/page.ts'
import type { HttpServer } from '../platform/http/http-server.ts'
import { type Page, readPage, sendPage } from '../platform/http/lists.ts'
import { ListEnvelope } from '../platform/http/schemas.ts'
import type { Services } from '../services.ts'
import { AuditExportQuery, AuditLogEntry, AuditLogQuery } from './audit.schema.ts'
import { type AuditFilter, listAuditEntries } from './audit.store.ts'
import { type ExportFormat, exportAuditLog } from './export-audit-log.ts'

const ENTRIES_PER_QUERY = 1000
const MEDIA_TYPES: Record<ExportFormat, string> = {
  ndjson: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
}

export async function registerAuditLogRoutes(app: HttpServer, services: Services): Promise<void> {
  app.get(
    `${ORGANIZATION_PATH}/audit-log`,
    {
      config: { permission: 'read_audit_log' },
      schema: {
        operationId: 'listAuditLog',
        summary: 'List the audit log',
        description: 'Returns the audit log of the organization, newest first. Filters can be combined.',
        tags: ['Audit log'],
        params: OrganizationPath,
        querystring: AuditLogQuery,
        response: { 200: ListEnvelope(AuditLogEntry, 'A page of the audit log.') },
      },
    },
    async (request, reply) => {
      const { query, actor } = request
      const context = listContext(services, request)
      const page = readPage(query, context)
      const { sql } = services
      const list = (shown: Page) => listAuditEntries(sql, actor.org_id, shown, toFilter(query))
      return sendPage(reply, { ...(await listRows(sql, { page, query }, list)), page, query, context })
    },
  )

  app.get(
    `${ORGANIZATION_PATH}/audit-log/export`,
    {
      config: { permission: 'read_audit_log' },
      // A HEAD request would record an export.
      exposeHeadRoute: false,
      schema: {
        operationId: 'exportAuditLog',
        summary: 'Export the audit log',
        description:
          'Sends all entries that the filters select as a file, newest first. In CSV, an apostrophe precedes text that a ' +
          'spreadsheet would run as a formula. The export is recorded in the audit log as `audit_log.export`.',
        tags: ['Audit log'],
        params: OrganizationPath,
        querystring: AuditExportQuery,
        response: {
          200: {
            description: 'The entries.',
            content: {
              'application/x-ndjson': { schema: Type.String({ description: 'An entry per line.' }) },
              'text/csv': { schema: Type.String({ description: 'An entry per line, after the header.' }) },
            },
          },
        },
      },
    },
    async (request, reply) => {
      const { actor, query } = request
      const format = query.format ?? 'ndjson'
      const page = readPage({ ...query, limit: ENTRIES_PER_QUERY }, listContext(services, request))
      const asked = { org_id: actor.org_id, format, page, filter: toFilter(query) }
      const text = await exportAuditLog(services, asked, toPrincipal(actor))
      const day = services.clock.now().toISOString().slice(0, 10)
      const name = `audit-log-${actor.organization.slug}-${day}.${format}`
      reply.header('content-disposition', `attachment; filename="${name}"`)
      return reply.type(MEDIA_TYPES[format]).send(Readable.from(text) as never)
    },
  )
}

function toFilter({ principal_type, principal_id, action, object_type, object_id }: AuditFilter): AuditFilter {
  return { principal_type, principal_id, action, object_type, object_id }
}
