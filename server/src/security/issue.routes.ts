import { listContext } from '../access/retention.ts'
import type { HttpServer } from '../platform/http/http-server.ts'
import { readPage, sendPage } from '../platform/http/lists.ts'
import { ListEnvelope } from '../platform/http/schemas.ts'
import type { Services } from '../services.ts'
import { Issue, IssueQuery } from './issue.schema.ts'
import { listIssues } from './issue.store.ts'

export async function issueRoutes(app: HttpServer, services: Services): Promise<void> {
  app.get(
    '/v1/security/issues',
    {
      config: { scope: 'read:security', feature: 'unique_issues' },
      schema: {
        operationId: 'listIssues',
        summary: 'List unique issues',
        tags: ['Findings and issues'],
        querystring: IssueQuery,
        response: { 200: ListEnvelope(Issue) },
      },
    },
    async (request, reply) => {
      const context = listContext(services, request)
      const page = readPage(request.query, context)
      const rows = await listIssues(services.sql, request.actor.org_id, page)
      return sendPage(reply, rows, page, request.query, context)
    },
  )
}
