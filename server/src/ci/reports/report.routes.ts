import type { FastifyContextConfig } from 'fastify'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Envelope } from '../../platform/http/schemas.ts'
import { update } from '../../platform/queue/update.ts'
import type { Services } from '../../services.ts'
import { ArtifactsResult, CompletedArtifacts, CompletionResult, NewArtifacts } from './artifact.schema.ts'
import { appendArtifacts, appendAttestations } from './change-report.ts'
import { completeArtifacts } from './complete-artifacts.ts'
import { createReport } from './create-report.ts'
import { API_RULES } from './read-attestations.ts'
import {
  AttestationsResult,
  CiReportResult,
  NewAttestations,
  NewCiReport,
  REPORT_BODY_BYTES_MAX,
  ReportPath,
  ReportsPath,
} from './report.schema.ts'

const config: FastifyContextConfig = {
  scope: 'write:ci',
  limitedAs: 'report',
  updates: ({ params }) => [update('run', params.run_id)],
}
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
          'Stores the results of one job and returns an upload slot for each artifact. Send each file to its slot with a ' +
          'PUT request, then complete the artifacts. A report with the same attempt, job, matrix, name and trust level ' +
          'replaces the existing one: attestations and artifacts that it does not contain are deleted. Reports of other ' +
          'trust levels stay, and `stands_beside` names one. Jobs of one name that `key`, or without it `instance`, tell apart ' +
          'have reports of their own; without `key`, the warning `SAME_NAME_DIFFERENT_JOB` says so. A report with fewer ' +
          '`retries` than the stored one changes nothing (200 with the warning `OLDER_TRY`). Safe to repeat.\n\nErrors: 400 ' +
          '`kind_not_allowed` for attestations of the kinds `provenance` and `ownership`. 403 `forbidden` if a token is about ' +
          'a run of another repository, or about another run although code of strangers may have run in its job. 404 `not_found` if the run or ' +
          'the attempt does not exist. 409 `run_mismatch` if the attempt is about another repository or commit than `expect`. ' +
          '429 `rate_limited` for the 101st job with one name and matrix that senders of this trust level report of a run.',
        tags,
        params: ReportsPath,
        body: NewCiReport,
        response: {
          200: Envelope(CiReportResult, 'The report replaced an existing one.'),
          201: Envelope(CiReportResult, 'The report was created.'),
        },
      },
    },
    async (request, reply) => {
      const { run_id } = request.params
      const report = { ...(request.body as NewCiReport), rules: API_RULES }
      const { result, created, otherRunner } = await createReport(services, request.actor, run_id, report)
      reply.code(created ? 201 : 200)
      const warnings = [...result.warnings]
      if (otherRunner !== null)
        warnings.push(
          `This report replaced a report from the runner "${otherRunner}". Check whether two jobs have the same name.`,
        )
      return { data: { ...result, warnings } }
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
        description:
          'Replaces the attestations of the report that have the same kind and name, and adds the others. No attestation ' +
          'is deleted. Safe to repeat.\n\nErrors: 400 `kind_not_allowed` for the kinds `provenance` and `ownership`. 403 ' +
          '`forbidden` if a token is about a run of another repository. 403 `other_lane` for a report of another trust level. 429 `rate_limited` if too much of the same kind of ' +
          'sender waits to be read.',
        tags,
        params: ReportPath,
        body: NewAttestations,
        response: { 200: Envelope(AttestationsResult, 'The attestations were stored.') },
      },
    },
    async ({ actor, params, body }) => ({ data: await appendAttestations(services, actor, params, body.attestations) }),
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
          'Returns an upload slot for each artifact. Send each file to its slot with a PUT request, then complete the ' +
          'artifacts. A different file with the path of an existing artifact replaces it once it is completed. Safe to repeat.\n\nErrors: 403 ' +
          '`other_lane` for a report of another trust level.',
        tags,
        params: ReportPath,
        body: NewArtifacts,
        response: { 200: Envelope(ArtifactsResult, 'The upload slots of the artifacts.') },
      },
    },
    async ({ actor, params, body }) => ({ data: await appendArtifacts(services, actor, params, body.artifacts) }),
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
          'Compares each file with its declared size and checksum, and deletes files that do not match. An artifact whose ' +
          'file has not been sent is `missing` and can be completed later. Safe to repeat.\n\nErrors: 403 `other_lane` for a ' +
          'report of another trust level. 429 `rate_limited` if 2,000 uploads or 4 GiB of the same kind of sender wait to be read.',
        tags,
        params: ReportPath,
        body: CompletedArtifacts,
        response: { 200: Envelope(CompletionResult, 'The result for each artifact.') },
      },
    },
    async ({ actor, params, body }) => ({ data: await completeArtifacts(services, actor, params, body.artifact_ids) }),
  )
}
