import { type Actor, listContext } from '../access/actor.ts'
import { ORGANIZATION_PATH } from '../access/gateway/authorize-people.ts'
import { OrganizationPath } from '../access/gateway/open-to-people.ts'
import { computeRetentionStart } from '../organizations/plan.ts'
import { listRows } from '../platform/db/page.ts'
import { createNotFoundError } from '../platform/http/errors.ts'
import type { HttpServer } from '../platform/http/http-server.ts'
import { type Page, readPage, sendPage } from '../platform/http/lists.ts'
import { ForbiddenResponse } from '../platform/http/openapi.ts'
import { sendData } from '../platform/http/responses.ts'
import { Envelope, ListEnvelope } from '../platform/http/schemas.ts'
import { update } from '../platform/queue/update.ts'
import type { Services } from '../services.ts'
import { appendFacts } from './append-facts.ts'
import { DeploymentBoard, DeploymentBoardQuery } from './board.schema.ts'
import { closeLiveDeployment, updateDeployment } from './decisions/update-deployment.ts'
import { Deployment, DeploymentPath, DeploymentQuery, DeploymentUpdate, LiveEnd } from './deployment.schema.ts'
import { findDeployment, listBoardCells, listDeployments, listWaitingOnBoard } from './deployment-list.store.ts'

export async function registerDeploymentRoutes(app: HttpServer, services: Services): Promise<void> {
  app.get(
    '/v1/deployments',
    {
      config: { scope: 'read:deployments', permission: 'view' },
      schema: {
        operationId: 'listDeployments',
        summary: 'List deployments',
        description:
          'Returns the deployments of the organization, newest first. With `live=true` those that run now: the last ' +
          'success of each environment and slot of a repository, unless it has ended.',
        tags: ['Deployments'],
        querystring: DeploymentQuery,
        response: { 200: ListEnvelope(Deployment, 'A page of deployments.') },
      },
    },
    async (request, reply) => {
      const { query, actor } = request
      const context = listContext(services, request)
      const read = readPage(query, context)
      // What runs is not old.
      const page = query.live === true && read.asked[0] === null ? { ...read, since: new Date(0) } : read
      const filter = {
        status: query.status,
        environment: query.environment,
        repository_full_name: query.repository,
        workflow_name: query.workflow,
        workflow_path: query.workflow_path,
        pipeline_run_id: query.run_id,
        commit_sha: query.commit_sha,
        live: query.live,
      }
      const selection = { filter, recovered: query.recovered, now: context.now }
      const listed = await services.reads.read(async (sql) => {
        const list = (shown: Page) => listDeployments(sql, actor.org_id, shown, selection)
        const { rows, matching } = await listRows(sql, { page, query }, list)
        return { rows: await appendFacts(sql, actor.org_id, rows), matching }
      })
      return sendPage(reply, { ...listed, page, query, context })
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
    async ({ actor, params }, reply) => sendData(reply, await readDeployment(services, actor, params.id)),
  )

  app.patch(
    '/v1/deployments/:id',
    {
      config: {
        scope: ['write:deployments', 'write:ci'],
        permission: 'answer_deployment_gates',
        updates: ({ params }) => [update('deployment', params.id)],
      },
      schema: {
        operationId: 'updateDeployment',
        summary: 'Update a deployment',
        description:
          'States what has become of a deployment, its version, and the URL and the subjects of what is deployed. The credential that ' +
          'opened its gate can do so; others need the scope `write:deployments`, and people `answer_deployment_gates`. ' +
          'What a credential with another trust than the opener says is listed in `marks` and changes nothing else. The ' +
          'end of the run no longer changes a deployment whose status was stated. The same status again changes ' +
          'nothing.\n\nErrors: 403 `insufficient_scope` if another credential has opened the gate, and the key does not ' +
          'have the scope `write:deployments`. 403 `forbidden` for a token or a key that may not speak about the repository. 403 ' +
          '`other_lane` for cancelling a waiting deployment with another trust than the opener. 409 `deployment_finished` if the deployment has ' +
          'ended with another status. 409 `not_approved` if it waits for its approval and the status is not ' +
          '`cancelled`. 409 `host_reports_status` for the status of a deployment of a code host. 409 `gate_subjects_differ` for other ' +
          'subjects than the gate or the reports of the run name.',
        tags: ['Deployments'],
        params: DeploymentPath,
        body: DeploymentUpdate,
        response: { 200: Envelope(Deployment, 'The updated deployment.'), 403: ForbiddenResponse },
      },
    },
    async (request, reply) => {
      const { actor, params, body } = request
      await updateDeployment(services, actor, params.id, body)
      return sendData(reply, await readDeployment(services, actor, params.id))
    },
  )
}

/** The end of what runs. */
export async function registerLiveRoutes(app: HttpServer, services: Services): Promise<void> {
  app.delete(
    '/v1/deployments/:id/live',
    {
      config: {
        scope: 'write:deployments',
        permission: 'answer_deployment_gates',
        fresh: true,
        updates: ({ params }) => [update('deployment', params.id)],
      },
      schema: {
        operationId: 'endLiveDeployment',
        summary: 'State that a deployment no longer runs',
        description:
          'Ends a deployment that nothing has replaced, for example because its environment was removed. It is live ' +
          'again if it succeeds again.\n\nErrors: 403 `forbidden` for a token or a key that may not speak about the ' +
          'repository. 403 `other_lane` for a credential that can be trusted less than who says that it runs, such as an ' +
          'API key about a deployment of a code host. 409 `not_live` if the deployment does not run.',
        tags: ['Deployments'],
        params: DeploymentPath,
        querystring: LiveEnd,
        response: { 200: Envelope(Deployment, 'The deployment.'), 403: ForbiddenResponse },
      },
    },
    async ({ actor, params, query }, reply) => {
      await closeLiveDeployment(services, actor, params.id, query.reason)
      return sendData(reply, await readDeployment(services, actor, params.id))
    },
  )
}

/** The deployment as JSON text. Throws 404. */
async function readDeployment({ sql, clock }: Services, { org_id, plan }: Actor, id: string): Promise<string> {
  const now = clock.now()
  const json = await findDeployment(sql, org_id, id, { retainedSince: computeRetentionStart(plan, now), now })
  if (json === null) throw createNotFoundError('deployment')
  const [row] = await appendFacts(sql, org_id, [{ id, json }])
  return row?.json ?? json
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
