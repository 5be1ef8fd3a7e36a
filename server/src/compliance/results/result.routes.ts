import { listContext } from '../../access/actor.ts'
import { listRows } from '../../platform/db/page.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { readPage, sendPage } from '../../platform/http/lists.ts'
import { ListEnvelope } from '../../platform/http/schemas.ts'
import type { Services } from '../../services.ts'
import { ComplianceResult, ResultQuery } from './result.schema.ts'
import { listResults } from './result.store.ts'

export async function registerResultRoutes(app: HttpServer, services: Services): Promise<void> {
  app.get(
    '/v1/compliance/results',
    {
      config: { scope: 'read:compliance', permission: 'view' },
      schema: {
        operationId: 'listComplianceResults',
        summary: 'List compliance results',
        description: 'Returns the latest result of each policy for each repository that it covers, newest first.',
        tags: ['Compliance'],
        querystring: ResultQuery,
        response: { 200: ListEnvelope(ComplianceResult, 'A page of compliance results.') },
      },
    },
    async (request, reply) => {
      const { query, actor } = request
      const context = listContext(services, request)
      const page = readPage(query, context)
      const listed = await services.reads.read((sql) =>
        listRows(sql, { page, query }, (shown) => listResults(sql, actor.org_id, shown, query)),
      )
      return sendPage(reply, { ...listed, page, query, context })
    },
  )
}
