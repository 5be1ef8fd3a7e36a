import { listContext } from '../../access/actor.ts'
import { ORGANIZATION_PATH } from '../../access/gateway/authorize-people.ts'
import { OrganizationPath } from '../../access/gateway/open-to-people.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { readPage, sendPage } from '../../platform/http/lists.ts'
import { ListEnvelope } from '../../platform/http/schemas.ts'
import type { Services } from '../../services.ts'
import { KnownRepository, RepositoryListQuery } from './repository.schema.ts'
import { listKnownRepositories } from './repository-list.store.ts'

export async function registerRepositoryListRoutes(app: HttpServer, services: Services): Promise<void> {
  app.get(
    `${ORGANIZATION_PATH}/repositories`,
    {
      config: { permission: 'view' },
      schema: {
        operationId: 'listRepositories',
        summary: 'List repositories',
        description:
          'Returns the repositories that are connected or linked, or that runs or security reports name, newest first. ' +
          'Their names are the values of the filter `repository` of other lists.',
        tags: ['Repositories'],
        params: OrganizationPath,
        querystring: RepositoryListQuery,
        response: { 200: ListEnvelope(KnownRepository, 'A page of repositories.') },
      },
    },
    async (request, reply) => {
      const { query, actor } = request
      const context = listContext(services, request)
      // Repositories do not expire.
      const page = { ...readPage(query, context), since: new Date(0) }
      const rows = await listKnownRepositories(services.sql, actor.org_id, page, query.search)
      return sendPage(reply, { rows, page, query, context })
    },
  )
}
