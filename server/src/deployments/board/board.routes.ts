import { ORGANIZATION_PATH } from '../../access/gateway/authorize-people.ts'
import { OrganizationPath } from '../../access/gateway/open-to-people.ts'
import { computeRetentionStart } from '../../organizations/plan.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Envelope } from '../../platform/http/schemas.ts'
import type { Services } from '../../services.ts'
import { DeploymentBoard, DeploymentBoardQuery } from './board.schema.ts'
import { listBoardCells, listWaitingOnBoard } from './board.store.ts'

export async function registerDeploymentBoardRoutes(app: HttpServer, { sql, clock }: Services): Promise<void> {
  app.get(
    `${ORGANIZATION_PATH}/deployments/board`,
    {
      config: { permission: 'view' },
      schema: {
        operationId: 'getDeploymentBoard',
        summary: 'Get the board of deployments',
        description:
          'Returns what runs in each environment of each repository, the latest deployment there if it is another one, and ' +
          'every deployment that waits for an approval.',
        tags: ['Deployments'],
        params: OrganizationPath,
        querystring: DeploymentBoardQuery,
        response: { 200: Envelope(DeploymentBoard, 'The board.') },
      },
    },
    async ({ actor, query }) => {
      const now = clock.now()
      const filter = { retainedSince: computeRetentionStart(actor.plan, now), search: query.search, now }
      const [board, waiting] = await Promise.all([
        listBoardCells(sql, actor.org_id, filter),
        listWaitingOnBoard(sql, actor.org_id, filter),
      ])
      return { data: { ...board, waiting } }
    },
  )
}
