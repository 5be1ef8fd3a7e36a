import { listContext } from '../../access/actor.ts'
import { computeRetentionStart } from '../../organizations/plan.ts'
import { createInvalidFieldError, createNotFoundError } from '../../platform/http/errors.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { readPage, sendPage } from '../../platform/http/lists.ts'
import { sendData } from '../../platform/http/responses.ts'
import { Envelope, ListEnvelope } from '../../platform/http/schemas.ts'
import type { Services } from '../../services.ts'
import { PipelineRun, PipelineRunPath, PipelineRunQuery } from './pipeline-run.schema.ts'
import { findPipelineRun } from './pipeline-run.store.ts'
import { RunPages } from './run-pages.ts'

export async function registerPipelineRunRoutes(app: HttpServer, services: Services): Promise<void> {
  const pages = new RunPages()
  app.get(
    '/v1/runs',
    {
      config: { scope: 'read:pipelines', permission: 'view' },
      schema: {
        operationId: 'listRuns',
        summary: 'List pipeline runs',
        description: 'Returns the pipeline runs of every source, newest first.',
        tags: ['Pipeline runs'],
        querystring: PipelineRunQuery,
        response: { 200: ListEnvelope(PipelineRun, 'A page of pipeline runs.') },
      },
    },
    async (request, reply) => {
      const context = listContext(services, request)
      const page = readPage(request.query, context)
      const { status, repository, branch } = request.query
      if (branch !== undefined && repository === undefined)
        throw createInvalidFieldError('/query/branch', 'requires repository')
      const filter = { status, repository, branch, now: context.now }
      const { org_id } = request.actor
      const rows = await services.reads.read((sql) => pages.list(sql, org_id, page, filter))
      return sendPage(reply, { rows, page, query: request.query, context })
    },
  )

  app.get(
    '/v1/runs/:id',
    {
      config: { scope: 'read:pipelines', permission: 'view' },
      schema: {
        operationId: 'getRun',
        summary: 'Get a pipeline run',
        description: 'Returns a pipeline run with all its attempts.',
        tags: ['Pipeline runs'],
        params: PipelineRunPath,
        response: { 200: Envelope(PipelineRun, 'The pipeline run.') },
      },
    },
    async (request, reply) => {
      const { org_id, plan } = request.actor
      const now = services.clock.now()
      const period = { retainedSince: computeRetentionStart(plan, now), now }
      const json = await findPipelineRun(services.sql, org_id, request.params.id, period)
      if (json === null) throw createNotFoundError('run')
      return sendData(reply, json)
    },
  )
}
