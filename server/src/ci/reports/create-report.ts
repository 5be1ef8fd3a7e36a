import type { Actor } from '../../access/actor.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { invalidField, notFound } from '../../platform/http/errors.ts'
import { publish } from '../../platform/queue/event.ts'
import type { Services } from '../../services.ts'
import { announceNamedArtifacts } from '../artifacts/announce-artifacts.ts'
import { deleteOtherArtifacts } from '../artifacts/artifact.store.ts'
import { refuseBadPaths, signSlots } from '../artifacts/artifact-slots.ts'
import { reserveArtifacts } from '../artifacts/reserve-artifacts.ts'
import { lockRunById } from '../runs/run.store.ts'
import { deleteOtherAttestations, upsertAttestations } from './attestation.store.ts'
import { readAttestations } from './read-attestations.ts'
import { type NewCiReport, SUMMARY_BYTES_MAX } from './report.schema.ts'
import { attemptExists, type ReportRow, upsertReport } from './report.store.ts'
import { reportChanged } from './report-changed.event.ts'
import { reportId } from './report-id.ts'

/**
 * Stores one job's results in place of what the same job of the same attempt said before, and opens a slot for each
 * file. Safe to repeat and to run twice at once. Errors: 400 `kind_not_allowed`, `invalid_request`; 404.
 */
export async function createReport(services: Services, actor: Actor, runId: string, input: NewCiReport) {
  const now = services.clock.now()
  refuseBadPaths(input.artifacts)
  if (input.summary && Buffer.byteLength(input.summary) > SUMMARY_BYTES_MAX) {
    throw invalidField('/body/summary', `must be at most ${SUMMARY_BYTES_MAX} bytes`)
  }
  const attestations = readAttestations(input.attestations, now)
  const stored = await services.sql.begin(async (tx) => {
    const report = toRow(runId, await lockAttempt(tx, actor, runId, input.attempt), input)
    const { created, runnerBefore } = await upsertReport(tx, actor.org_id, report, now)
    await deleteOtherAttestations(tx, actor.org_id, report.id, attestations.rows)
    if (attestations.rows.length > 0) {
      await upsertAttestations(tx, actor.org_id, report.id, attestations.rows, now)
    }
    await deleteOtherArtifacts(tx, actor.org_id, report.id, input.artifacts)
    const reserved = await reserveArtifacts(tx, actor, { id: report.id, runId }, input.artifacts, now)
    await announceNamedArtifacts(tx, actor.org_id, report.id)
    await publish(tx, reportChanged, { org_id: actor.org_id, run_id: runId })
    return { report, created, reserved, warnings: [...attestations.warnings, ...otherRunner(report, runnerBefore)] }
  })
  const { report, created, reserved, warnings } = stored
  const result = {
    report_id: report.id,
    run_id: runId,
    attempt: report.attempt,
    url: `${services.config.baseUrl}/runs/${runId}/reports/${report.id}`,
    trust: 'self_reported',
    uploads: await signSlots(services, actor, reserved.slots, now),
    skipped: reserved.skipped,
    warnings,
  }
  return { result, created }
}

/** The attempt that is reported about, the newest unless the body names one. The run stays locked. */
async function lockAttempt(tx: Tx, actor: Actor, runId: string, asked: number | undefined): Promise<number> {
  const newest = await lockRunById(tx, actor.org_id, runId)
  if (newest === null) throw notFound('run')
  const attempt = asked ?? newest
  if (!(await attemptExists(tx, actor.org_id, runId, attempt))) throw notFound(`attempt ${attempt} of the run`)
  return attempt
}

function toRow(runId: string, attempt: number, { job, name, summary }: NewCiReport): ReportRow {
  const matrix = job.matrix ?? null
  return {
    id: reportId({ runId, attempt, jobName: job.name, matrix, name }),
    run_id: runId,
    attempt,
    job_name: job.name,
    matrix,
    runner: job.runner ?? null,
    name,
    summary: summary ?? null,
  }
}

function otherRunner(report: ReportRow, before: string | null): string[] {
  if (before === null || report.runner === null || before === report.runner) return []
  return [`This report replaced one that the runner "${before}" had sent. Do two jobs share a name?`]
}
