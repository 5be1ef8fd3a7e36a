import { listContext } from '../access/actor.ts'
import { ORGANIZATION_PATH } from '../access/gateway/authorize-people.ts'
import { OrganizationPath } from '../access/gateway/open-to-people.ts'
import { computeRetentionStart } from '../organizations/plan.ts'
import { createNotFoundError } from '../platform/http/errors.ts'
import type { HttpServer } from '../platform/http/http-server.ts'
import { readPage, sendPage } from '../platform/http/lists.ts'
import { sendData } from '../platform/http/responses.ts'
import { Envelope, ListEnvelope } from '../platform/http/schemas.ts'
import type { Services } from '../services.ts'
import { DeploymentBoard, DeploymentBoardQuery } from './board.schema.ts'
import { Deployment, DeploymentPath, DeploymentQuery } from './deployment.schema.ts'
import { findDeployment, listBoardCells, listDeployments, listWaitingOnBoard } from './deployment-list.store.ts'

export async function registerDeploymentRoutes(app: HttpServer, services: Services): Promise<void> {
  app.get(
    '/v1/deployments',
    {
      config: { scope: 'read:deployments', permission: 'view' },
      schema: {
        operationId: 'listDeployments',
        summary: 'List deployments',
        description: 'Returns the deployments of the organization, newest first.',
        tags: ['Deployments'],
        querystring: DeploymentQuery,
        response: { 200: ListEnvelope(Deployment, 'A page of deployments.') },
      },
    },
    async (request, reply) => {
      const { query, actor } = request
      const context = listContext(services, request)
      const page = readPage(query, context)
      const filter = {
        status: query.status,
        environment: query.environment,
        repository_full_name: query.repository,
        workflow_name: query.workflow,
        workflow_path: query.workflow_path,
        pipeline_run_id: query.run_id,
      }
      const selection = { filter, now: context.now }
      const rows = await services.reads.read((sql) => listDeployments(sql, actor.org_id, page, selection))
      return sendPage(reply, { rows, page, query, context })
    },
  )

  app.get(
    '/v1/deployments/:id',
    {
      config: { scope: 'read:deployments', permission: 'view' },
      schema: {
        operationId: 'getDeployment',
        summary: 'Get a deployment',
        description: 'Returns a deployment with its reviews, approvals and latest policy evaluation.',
        tags: ['Deployments'],
        params: DeploymentPath,
        response: { 200: Envelope(Deployment, 'The deployment.') },
      },
    },
    async (request, reply) => {
      const { org_id, plan } = request.actor
      const now = services.clock.now()
      const window = { retainedSince: computeRetentionStart(plan, now), now }
      const json = await findDeployment(services.sql, org_id, request.params.id, window)
      if (json === null) throw createNotFoundError('deployment')
      return sendData(reply, json)
    },
  )
}

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
