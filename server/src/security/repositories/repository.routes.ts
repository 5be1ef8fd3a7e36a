import { listContext } from '../../access/actor.ts'
import { ORGANIZATION_PATH } from '../../access/gateway/authorize-people.ts'
import { OrganizationPath } from '../../access/gateway/open-to-people.ts'
import { listRefusals } from '../../codehosts/connections/refusal.store.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { type PageRow, readPage, sendPage } from '../../platform/http/lists.ts'
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
      const known = await listKnownRepositories(services.sql, actor.org_id, page, query.search)
      const rows = await addRefusals(services.sql, actor.org_id, known)
      return sendPage(reply, { rows, page, query, context })
    },
  )
}

/** Adds to the rows of a page which lists the connected code host refuses. */
async function addRefusals(db: Db, orgId: string, rows: readonly PageRow[]): Promise<PageRow[]> {
  const items = rows.map(({ json }) => JSON.parse(json) as KnownItem)
  const connected = items.flatMap(({ connected, repository_id: id }) => (connected && id !== null ? [id] : []))
  const refusals = connected.length === 0 ? [] : await listRefusals(db, orgId, connected)
  const byRepository = Map.groupBy(refusals, ({ provider, repository_id }) => `${provider} ${repository_id}`)
  return rows.map((row, at) => {
    const item = items[at] as KnownItem
    const refused = item.connected ? byRepository.get(`${item.provider} ${item.repository_id}`) : undefined
    const shown = (refused ?? []).map(({ list, status, message, since }) => ({ list, status, message, since }))
    return { ...row, json: JSON.stringify({ ...item, refusals: shown }) }
  })
}

type KnownItem = { connected: boolean; provider: string | null; repository_id: string | null }
