import { hash } from 'node:crypto'
import type { Actor } from '../../access/actor.ts'
import { toCanonicalJson } from '../../platform/crypto/signed-bytes.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { createInvalidFieldError, createNotFoundError } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import { hasAttempt } from '../runs/run-attempt.store.ts'
import { lockRunFor, selectAttempt } from '../runs/token-run.ts'
import { selectStrongest, type TrustClass } from '../runs/trust.ts'
import { signSlots } from './artifact-object.ts'
import { deleteOtherArtifacts } from './artifact-removal.store.ts'
import { deleteOtherAttestations, listLostEvidence } from './attestation.store.ts'
import { publishChange, publishLoss } from './change-report.ts'
import { type AttestationRules, readAttestations } from './read-attestations.ts'
import { type NewCiReport, SUMMARY_BYTES_MAX } from './report.schema.ts'
import { listLanes, type ReportIdentity, type ReportRow, upsertReport } from './report.store.ts'
import { checkArtifactPaths, reserveArtifacts } from './reserve-artifacts.ts'
import { saveAttestations } from './save-attestations.ts'

/** A report, and the rules of the route for its attestations. */
export type NewReport = NewCiReport & { rules: AttestationRules }

/**
 * Stores the results of one job and opens an upload slot for each file. A report of the same
 * attempt, job, matrix, name and lane is replaced; those of other lanes stand beside it (trust §1).
 * Everything that it stores has the trust of the credential. `otherRunner` is the runner of the
 * replaced report if it is another one. Safe to repeat and to call concurrently. Errors: 400
 * `kind_not_allowed`, `invalid_request`; 404; 429.
 */
export async function createReport(services: Services, actor: Actor, runId: string, input: NewReport) {
  const now = services.clock.now()
  checkArtifactPaths(input.artifacts)
  refuseLongSummary(input)
  const attestations = readAttestations(input.attestations, input.rules, now)
  const { row, beside, created, reserved, otherRunner } = await services.sql.begin(async (tx) => {
    const { attempt, trust } = await lockAttempt(tx, { actor, runId, asked: input.attempt, now })
    const identity = { attempt, job_name: input.job.name, matrix: input.job.matrix ?? null, name: input.name }
    const stored = await listLanes(tx, { org_id: actor.org_id, run_id: runId }, identity)
    const id = selectReportId({ runId, trust, ...identity }, stored)
    const row = { ...identity, id, trust, runner: input.job.runner ?? null, summary: input.summary ?? null }
    const beside = selectStrongest(stored.filter((other) => other.trust !== trust))
    const report = { org_id: actor.org_id, run_id: runId, report_id: row.id }
    const { created, runnerBefore } = await upsertReport(tx, report, row, now)
    if (!created) {
      const given = { attestations: attestations.rows, artifacts: input.artifacts }
      const lost = await listLostEvidence(tx, report, given, true)
      await publishLoss(tx, { actor, report: { ...report, ...identity }, lost, now })
      await deleteOtherAttestations(tx, report, attestations.rows)
      await deleteOtherArtifacts(tx, report, input.artifacts)
    }
    // The files first: attestations that name them depend on who declared them.
    const reserved = await reserveArtifacts(tx, { actor, report, trust, items: input.artifacts, now })
    await saveAttestations(tx, { ...report, trust, isNew: created }, attestations.rows, now)
    await publishChange(services, tx, report)
    const otherRunner = row.runner === null || runnerBefore === row.runner ? null : runnerBefore
    return { row, beside, created, reserved, otherRunner }
  })
  const result = {
    report_id: row.id,
    run_id: runId,
    attempt: row.attempt,
    url: `${services.config.baseUrl}/runs/${runId}/reports/${row.id}`,
    trust: row.trust,
    stands_beside: beside?.id ?? null,
    uploads: await signSlots(services, actor, reserved.slots, now),
    skipped: reserved.skipped,
    warnings: attestations.warnings,
  }
  return { result, created, otherRunner }
}

function refuseLongSummary({ summary }: NewCiReport): void {
  if (summary === undefined || Buffer.byteLength(summary) <= SUMMARY_BYTES_MAX) return
  throw createInvalidFieldError('/body/summary', `must be at most ${SUMMARY_BYTES_MAX} bytes`)
}

type AttemptRequest = { actor: Actor; runId: string; asked: number | undefined; now: Date }
type ReportedAttempt = { attempt: number; trust: TrustClass }

/** Locks the run. Returns the attempt that the report belongs to, and the class of the report. */
async function lockAttempt(tx: Tx, { actor, runId, asked, now }: AttemptRequest): Promise<ReportedAttempt> {
  const run = await lockRunFor(tx, actor, runId, now)
  if (run === null) throw createNotFoundError('run')
  const attempt = selectAttempt(actor, run, asked)
  if (!(await hasAttempt(tx, { org_id: actor.org_id, run_id: runId, attempt })))
    throw createNotFoundError(`attempt with the number ${attempt}`)
  return { attempt, trust: run.stated }
}

const DIGEST_CHARS = 24

type ReportOfRun = ReportIdentity & { runId: string; trust: TrustClass }

/**
 * The id of a report, which `stored` of the same job may have already: ids from before reports had
 * lanes stay. An id that one of another lane got then is not used again.
 */
function selectReportId(report: ReportOfRun, stored: readonly Pick<ReportRow, 'id' | 'trust'>[]): string {
  const own = stored.find(({ trust }) => trust === report.trust)
  if (own) return own.id
  const id = reportId(report)
  return stored.some((other) => other.id === id) ? hashIdentity(report, [report.trust]) : id
}

/**
 * The id of a report, computed from its identity: the same attempt, job, matrix, name and lane of a
 * run always have the same id, so that a second report replaces the first (decisions §6). The order
 * of the keys of the matrix does not matter.
 */
export function reportId(report: ReportOfRun): string {
  return hashIdentity(report, report.trust === 'self_reported' ? [] : [report.trust])
}

/** What API keys send has the ids that it had before reports had lanes. */
function hashIdentity({ runId, attempt, job_name, matrix, name }: ReportOfRun, lane: TrustClass[]): string {
  const digest = hash('sha256', JSON.stringify([runId, attempt, job_name, sortMatrix(matrix), name, ...lane]), 'hex')
  return `${attempt}-${digest.slice(0, DIGEST_CHARS)}`
}

/**
 * The entries of a matrix in the order of their keys, with canonical values: equal matrices give
 * equal entries.
 */
export function sortMatrix(matrix: object | null): [string, unknown][] {
  return Object.entries(matrix ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => [
      key,
      typeof value === 'object' && value !== null ? JSON.parse(toCanonicalJson(value)) : value,
    ])
}
