import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { listContext } from '../../access/actor.ts'
import { ORGANIZATION_PATH } from '../../access/gateway/authorize-people.ts'
import { OrganizationSlug } from '../../access/gateway/open-to-people.ts'
import { computeRetentionStart } from '../../organizations/plan.ts'
import { countRows } from '../../platform/db/page.ts'
import { createInvalidFieldError, createNotFoundError } from '../../platform/http/errors.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { readPage, sendPage } from '../../platform/http/lists.ts'
import { sendData } from '../../platform/http/responses.ts'
import { Closed, Envelope, ListEnvelope } from '../../platform/http/schemas.ts'
import type { Services } from '../../services.ts'
import { listRunJobs } from '../provider-runs/run-job.store.ts'
import { ListedReport, ReportPath, StoredArtifact, StoredReport, StoredReportQuery } from '../reports/report.schema.ts'
import { findReport, hasRun, listArtifacts, listReports } from '../reports/report.store.ts'
import { PipelineRun, PipelineRunPath, PipelineRunQuery, RunJob, RunJobQuery } from './pipeline-run.schema.ts'
import { findPipelineRun, listRunVersions } from './pipeline-run.store.ts'
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
      const { query } = request
      const page = readPage(query, context)
      const { status, repository, branch, recovered } = query
      if (branch !== undefined && repository === undefined)
        throw createInvalidFieldError('/query/branch', 'requires repository')
      const filter = { status, repository, branch, recovered, now: context.now }
      const { org_id } = request.actor
      const listed = await services.reads.read(async (sql) => ({
        rows: await pages.list(sql, org_id, page, filter),
        matching: await countRows(sql, { page, query }, (shown) => listRunVersions(sql, org_id, shown, filter)),
      }))
      return sendPage(reply, { ...listed, page, query, context })
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

const config = { permission: 'view' } as const
const tags = ['Pipeline runs']
const RunPath = Closed({ org: OrganizationSlug, ...PipelineRunPath.properties })
const RunReportPath = Closed({ ...RunPath.properties, report_id: ReportPath.properties.report_id })

type ListRequest = FastifyRequest<{ Params: Static<typeof RunPath>; Querystring: Static<typeof StoredReportQuery> }>

/** The jobs of a run, and what they have reported about it. */
export async function runReportRoutes(app: HttpServer, services: Services): Promise<void> {
  const requireRun = async (org_id: string, run_id: string, since: Date) => {
    if (!(await hasRun(services.sql, { org_id, run_id }, since))) throw createNotFoundError('run')
    return { org_id, run_id }
  }
  const sendList = async (request: ListRequest, reply: FastifyReply, list: typeof listReports) => {
    const { query, params, actor } = request
    const common = listContext(services, request)
    // A cursor belongs to the list of one run.
    const context = { ...common, route: `${common.route} ${params.id}` }
    const page = readPage(query, context)
    const run = await requireRun(actor.org_id, params.id, computeRetentionStart(actor.plan, context.now))
    return sendPage(reply, { rows: await list(services.sql, run, page), page, query, context })
  }

  app.get(
    `${ORGANIZATION_PATH}/runs/:id/reports`,
    {
      config,
      schema: {
        operationId: 'listRunReports',
        summary: 'List the reports of a run',
        description: 'Returns the job reports of all attempts of a run, newest first.',
        tags,
        params: RunPath,
        querystring: StoredReportQuery,
        response: { 200: ListEnvelope(ListedReport, 'A page of reports.') },
      },
    },
    (request, reply) => sendList(request, reply, listReports),
  )

  app.get(
    `${ORGANIZATION_PATH}/runs/:id/reports/:report_id`,
    {
      config,
      schema: {
        operationId: 'getRunReport',
        summary: 'Get a report of a run',
        description: 'Returns a job report with its summary and the data of its attestations.',
        tags,
        params: RunReportPath,
        response: { 200: Envelope(StoredReport, 'The report.') },
      },
    },
    async ({ params, actor }, reply) => {
      const run = await requireRun(actor.org_id, params.id, computeRetentionStart(actor.plan, services.clock.now()))
      const json = await findReport(services.sql, { ...run, report_id: params.report_id })
      if (json === null) throw createNotFoundError('report')
      return sendData(reply, json)
    },
  )

  app.get(
    `${ORGANIZATION_PATH}/runs/:id/artifacts`,
    {
      config,
      schema: {
        operationId: 'listRunArtifacts',
        summary: 'List the artifacts of a run',
        description:
          'Returns the files that the jobs of all attempts of a run have declared, newest first. Those with the status ' +
          '`uploaded` can be downloaded with downloadArtifact.',
        tags,
        params: RunPath,
        querystring: StoredReportQuery,
        response: { 200: ListEnvelope(StoredArtifact, 'A page of artifacts.') },
      },
    },
    (request, reply) => sendList(request, reply, listArtifacts),
  )

  app.get(
    `${ORGANIZATION_PATH}/runs/:id/jobs`,
    {
      config,
      schema: {
        operationId: 'listRunJobs',
        summary: 'List the jobs of a run',
        description:
          'Returns up to 1,000 jobs of an attempt of a run, in the order in which they started. Empty for runs that no ' +
          'connected code host reports, and for runs that it reported before Shiplock stored jobs.',
        tags,
        params: RunPath,
        querystring: RunJobQuery,
        response: { 200: Envelope(Type.Array(RunJob), 'The jobs of the attempt.') },
      },
    },
    async ({ params, query, actor }, reply) => {
      const run = await requireRun(actor.org_id, params.id, computeRetentionStart(actor.plan, services.clock.now()))
      const jobs = await listRunJobs(services.sql, run, query.attempt ?? null)
      return sendData(reply, `[${jobs.join(',')}]`)
    },
  )
}
