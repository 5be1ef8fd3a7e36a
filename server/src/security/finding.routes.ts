import { listContext } from '../access/retention.ts'
import type { HttpServer } from '../platform/http/http-server.ts'
import { readPage, sendPage } from '../platform/http/lists.ts'
import { ListEnvelope } from '../platform/http/schemas.ts'
import type { Services } from '../services.ts'
import { Finding, FindingQuery } from './finding.schema.ts'
import { listFindings } from './finding.store.ts'
import { requireRepositoryId } from './repository-id.ts'
import { selectRepositories } from './select-repositories.ts'

const FIELDS = { provider: '/query/provider', id: '/query/repository_id' }

export async function findingRoutes(app: HttpServer, services: Services): Promise<void> {
  app.get(
    '/v1/security/findings',
    {
      config: { scope: 'read:security' },
      schema: {
        operationId: 'listFindings',
        summary: 'List raw findings of every source',
        tags: ['Findings and issues'],
        querystring: FindingQuery,
        response: { 200: ListEnvelope(Finding) },
      },
    },
    async (request, reply) => {
      const { query, actor } = request
      const provider = query.provider ?? null
      const context = listContext(services, request)
      const page = readPage(query, context)
      const repositories = await selectRepositories(services.sql, actor.org_id, {
        name: query.repository ?? null,
        provider,
        providerId:
          query.repository_id === undefined ? null : requireRepositoryId(provider, query.repository_id, FIELDS),
      })
      const rows = await listFindings(services.sql, actor.org_id, page, repositories)
      return sendPage(reply, rows, page, query, context)
    },
  )
}
