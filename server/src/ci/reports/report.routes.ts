import type { HttpServer } from '../../platform/http/http-server.ts'
import { Envelope } from '../../platform/http/schemas.ts'
import type { Services } from '../../services.ts'
import { addArtifacts } from './add-artifacts.ts'
import { addAttestations } from './add-attestations.ts'
import { completeArtifacts } from './complete-artifacts.ts'
import { createReport } from './create-report.ts'
import {
  ArtifactsResult,
  AttestationsResult,
  CiReportResult,
  CompletedArtifacts,
  CompletionResult,
  NewArtifacts,
  NewAttestations,
  NewCiReport,
  REPORT_BODY_BYTES_MAX,
  ReportPath,
  ReportsPath,
} from './report.schema.ts'

const config = { scope: 'write:ci', limitedAs: 'report' } as const
const tags = ['CI ingestion']
const bodyLimit = REPORT_BODY_BYTES_MAX

export async function reportRoutes(app: HttpServer, services: Services): Promise<void> {
  app.post(
    '/v1/ci/runs/:run_id/reports',
    {
      config,
      bodyLimit,
      schema: {
        operationId: 'createCiReport',
        summary: "Report one job's results",
        tags,
        params: ReportsPath,
        body: NewCiReport,
        response: { 200: Envelope(CiReportResult), 201: Envelope(CiReportResult) },
      },
    },
    async (request, reply) => {
      const { run_id } = request.params
      const { result, created } = await createReport(services, request.actor, run_id, request.body as NewCiReport)
      reply.code(created ? 201 : 200)
      return { data: result }
    },
  )

  app.post(
    '/v1/ci/runs/:run_id/reports/:report_id/attestations',
    {
      config,
      bodyLimit,
      schema: {
        operationId: 'addCiAttestations',
        summary: 'Merge attestations into a report',
        tags,
        params: ReportPath,
        body: NewAttestations,
        response: { 200: Envelope(AttestationsResult) },
      },
    },
    async ({ actor, params, body }) => ({
      data: await addAttestations(services, actor, params.run_id, params.report_id, body.attestations),
    }),
  )

  app.post(
    '/v1/ci/runs/:run_id/reports/:report_id/artifacts',
    {
      config,
      bodyLimit,
      schema: {
        operationId: 'addCiArtifacts',
        summary: 'Open slots for more files of a report',
        tags,
        params: ReportPath,
        body: NewArtifacts,
        response: { 200: Envelope(ArtifactsResult) },
      },
    },
    async ({ actor, params, body }) => ({
      data: await addArtifacts(services, actor, params.run_id, params.report_id, body.artifacts),
    }),
  )

  app.post(
    '/v1/ci/runs/:run_id/reports/:report_id/artifacts/complete',
    {
      config,
      bodyLimit,
      schema: {
        operationId: 'completeCiArtifacts',
        summary: 'Say that files are there: each is checked',
        tags,
        params: ReportPath,
        body: CompletedArtifacts,
        response: { 200: Envelope(CompletionResult) },
      },
    },
    async ({ actor, params, body }) => ({
      data: await completeArtifacts(services, actor, params.run_id, params.report_id, body.artifact_ids),
    }),
  )
}
