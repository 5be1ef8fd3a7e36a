import { listContext } from '../../access/actor.ts'
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
      const rows = await services.reads.read((sql) => listResults(sql, actor.org_id, page, query))
      return sendPage(reply, { rows, page, query, context })
    },
  )
}
