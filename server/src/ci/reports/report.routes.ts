import type { HttpServer } from '../../platform/http/http-server.ts'
import { Envelope } from '../../platform/http/schemas.ts'
import type { Services } from '../../services.ts'
import { ArtifactsResult, CompletedArtifacts, CompletionResult, NewArtifacts } from '../artifacts/artifact.schema.ts'
import { addArtifacts, addAttestations } from './add-to-report.ts'
import { completeArtifacts } from './complete-artifacts.ts'
import { createReport } from './create-report.ts'
import {
  AttestationsResult,
  CiReportResult,
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
        summary: 'Create a job report',
        description:
          'Stores the results of one job (201) and returns one upload slot for each artifact. A report of the same ' +
          'attempt, job, matrix and name replaces the earlier one (200). Safe to repeat.',
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
        summary: 'Add attestations to a report',
        description: 'Replaces attestations with the same kind and name, and adds the others. Deletes none.',
        tags,
        params: ReportPath,
        body: NewAttestations,
        response: { 200: Envelope(AttestationsResult) },
      },
    },
    async ({ actor, params, body }) => ({ data: await addAttestations(services, actor, params, body.attestations) }),
  )

  app.post(
    '/v1/ci/runs/:run_id/reports/:report_id/artifacts',
    {
      config,
      bodyLimit,
      schema: {
        operationId: 'addCiArtifacts',
        summary: 'Add artifacts to a report',
        description:
          'Returns one upload slot for each file. A different file at a path that the report already has replaces the ' +
          'stored one. Send each file with a PUT request, then complete the artifacts.',
        tags,
        params: ReportPath,
        body: NewArtifacts,
        response: { 200: Envelope(ArtifactsResult) },
      },
    },
    async ({ actor, params, body }) => ({ data: await addArtifacts(services, actor, params, body.artifacts) }),
  )

  app.post(
    '/v1/ci/runs/:run_id/reports/:report_id/artifacts/complete',
    {
      config,
      bodyLimit,
      schema: {
        operationId: 'completeCiArtifacts',
        summary: 'Complete artifacts',
        description:
          'Compares each uploaded file with its declared size and checksum, and deletes files that do not match. ' +
          'Safe to repeat.',
        tags,
        params: ReportPath,
        body: CompletedArtifacts,
        response: { 200: Envelope(CompletionResult) },
      },
    },
    async ({ actor, params, body }) => ({ data: await completeArtifacts(services, actor, params, body.artifact_ids) }),
  )
}
