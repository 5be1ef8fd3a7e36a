import type { Actor } from '../../access/actor.ts'
import { reportNotFound } from '../../errors/ingest.ts'
import { ApiError } from '../../platform/http/api-error.ts'
import type { Services } from '../../services.ts'
import { completeArtifacts } from '../reports/complete-artifacts.ts'
import { createReport } from '../reports/create-report.ts'
import { REPORT_ID } from '../reports/report.schema.ts'
import type { RunIntake } from '../runs/run-intake.ts'
import { requireTokenRun } from '../runs/token-run.ts'
import type { IngestedReport } from './ingest.schema.ts'
import { toReport } from './report-translation.ts'

/** The code of the warning that another machine has sent the same report before. */
const REPLACED = 'REPORT_REPLACED_BY_OTHER_RUNNER'

/**
 * Stores a report of the job that a token names, and opens an upload slot for each file. Errors:
 * 400 `invalid_request`; 404 `run_not_found`.
 */
export async function createIngestedReport(services: Services, intake: RunIntake, actor: Actor, body: IngestedReport) {
  const { report, warnings } = toReport(body)
  const { run_id, attempt } = await requireTokenRun(services, intake, actor)
  const { result, otherRunner } = await createReport(services, actor, run_id, { ...report, attempt })
  const sizes = new Map(report.artifacts.map(({ path, size }) => [path, size]))
  return {
    reportId: result.report_id,
    url: result.url,
    trusted: result.trust === 'verified',
    warnings: [...warnings, ...result.warnings, ...(otherRunner === null ? [] : [REPLACED])],
    skipped: result.skipped,
    uploads: result.uploads.map(({ artifact_id, path, url, method, headers, expires_at }) => ({
      artifactId: artifact_id,
      path,
      url,
      method,
      // The client announces the length of a file only if the slot has a header for it.
      headers: services.objects.requiresLength ? { ...headers, 'Content-Length': String(sizes.get(path)) } : headers,
      expiresAt: expires_at,
    })),
  }
}

type Completion = { reportId: string; artifactIds: string[] }

/**
 * Completes the files of a report of the job that a token names. Errors: 404 `run_not_found`,
 * `report_not_found`.
 */
export async function completeIngested(services: Services, intake: RunIntake, actor: Actor, completion: Completion) {
  const { reportId, artifactIds } = completion
  if (!REPORT_ID.test(reportId)) throw reportNotFound()
  const { run_id } = await requireTokenRun(services, intake, actor)
  const report = { run_id, report_id: reportId }
  const { results } = await completeArtifacts(services, actor, report, artifactIds).catch((error: unknown) => {
    throw error instanceof ApiError && error.status === 404 ? reportNotFound() : error
  })
  return {
    results: results.map(({ artifact_id, status, reason }) => ({
      artifactId: artifact_id,
      status,
      ...(reason !== null && { reason }),
    })),
  }
}
