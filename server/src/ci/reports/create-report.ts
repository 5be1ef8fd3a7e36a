import { hash } from 'node:crypto'
import type { Actor } from '../../access/actor.ts'
import { hasJobsOnce } from '../../codehosts/catalogue.ts'
import { getNextUtcDayStart } from '../../platform/clock.ts'
import { toCanonicalJson } from '../../platform/crypto/signed-bytes.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { createInvalidFieldError, createNotFoundError, createRateLimitError } from '../../platform/http/errors.ts'
import { toBrowserAddress } from '../../platform/loopback.ts'
import type { Services } from '../../services.ts'
import { findAttempt } from '../runs/run-attempt.store.ts'
import { requireExpected, requireOwnAttempt } from '../runs/token-repository.ts'
import { lockRunFor, type RunToChange, readInstance, selectAttempt } from '../runs/token-run.ts'
import { type RunSource, selectStrongest, type TrustClass } from '../runs/trust.ts'
import { upsertSubjects } from '../subjects/subject.store.ts'
import { toSubjectRows } from '../subjects/subject.ts'
import { signSlots } from './artifact-object.ts'
import { deleteOtherArtifacts } from './artifact-removal.store.ts'
import { deleteOtherAttestations, listLostEvidence } from './attestation.store.ts'
import { publishChange, publishLoss } from './change-report.ts'
import { type AttestationRules, readAttestations } from './read-attestations.ts'
import { type NewCiReport, SUMMARY_BYTES_MAX } from './report.schema.ts'
import { countJobs, listLanes, lockReport, type ReportIdentity, type ReportRow, upsertReport } from './report.store.ts'
import { checkArtifactPaths, reserveArtifacts } from './reserve-artifacts.ts'
import { saveAttestations } from './save-attestations.ts'

/** A report, and the rules of the route for its attestations. */
export type NewReport = NewCiReport & { rules: AttestationRules }

/** Warnings about how the jobs of a run are told apart (ci-evidence §2). */
const OLDER_TRY = 'OLDER_TRY'
const SAME_NAME_DIFFERENT_JOB = 'SAME_NAME_DIFFERENT_JOB'

/**
 * Stores the results of one job and opens an upload slot for each file. A report of the same
 * attempt, job, matrix, name and lane is replaced; those of other jobs and lanes stand beside it
 * (ci-evidence §2, trust §1). One of an earlier try replaces nothing. Everything that it stores has
 * the trust of the credential. `otherRunner` is the runner of the replaced report if it is another
 * one, and no execution is known. Safe to repeat and to call concurrently. Errors: 400
 * `kind_not_allowed`, `invalid_request`; 404; 409 `run_mismatch`; 429.
 */
export async function createReport(services: Services, actor: Actor, runId: string, input: NewReport) {
  const now = services.clock.now()
  checkArtifactPaths(input.artifacts)
  refuseLongSummary(input)
  const attestations = readAttestations(input.attestations, input.rules, now)
  const { row, beside, created, reserved, otherRunner, about } = await services.sql.begin(async (tx) => {
    const { attempt, run } = await lockAttempt(tx, { actor, runId, input, now })
    const trust = run.stated
    const { key: job_key = null, retries: job_retries = null } = input.job
    const job_instance = readInstance(actor, run, input.job.instance, '/body/job/instance')
    const job_identity = formatJobIdentity({ key: job_key, instance: job_instance }, run)
    const place = { attempt, job_name: input.job.name, matrix: input.job.matrix ?? null, name: input.name }
    const identity = { ...place, job_identity }
    const stored = await listLanes(tx, { org_id: actor.org_id, run_id: runId }, identity)
    const id = selectReportId({ runId, trust, ...identity }, stored)
    const ofJob = { job_key, job_instance, job_retries, runner: input.job.runner ?? null }
    const row = { ...identity, ...ofJob, id, trust, summary: input.summary ?? null }
    const beside = selectStrongest(stored.filter((other) => other.trust !== trust))
    const report = { org_id: actor.org_id, run_id: runId, report_id: row.id }
    const before = await lockReport(tx, report)
    // Without a count of tries, what arrives later counts.
    if (job_retries !== null && job_retries < (before?.job_retries ?? 0))
      return { row, beside, created: false, reserved: NOTHING, otherRunner: null, about: [OLDER_TRY] }
    const created = before === null
    const jobs = await countJobs(tx, report, row)
    if (created && job_identity !== null && jobs.told_apart >= JOBS_MAX) {
      const message = `The run has ${JOBS_MAX} jobs with this name and matrix. Send as \`key\` what the CI system calls the job in every try.`
      throw createRateLimitError(message, { limit: JOBS_MAX, resetAt: getNextUtcDayStart(now), now })
    }
    await upsertReport(tx, report, row, now)
    const given = { attestations: attestations.rows, artifacts: input.artifacts }
    const replaced = created ? [] : await listLostEvidence(tx, report, given, true)
    if (!created) {
      await deleteOtherAttestations(tx, report, attestations.rows)
      await deleteOtherArtifacts(tx, report, input.artifacts)
    }
    // The files first: attestations that name them depend on who declared them.
    const reserved = await reserveArtifacts(tx, { actor, report, trust, items: input.artifacts, isWhole: true, now })
    const waiting = new Set(reserved.slots.map(({ path }) => path))
    const lost = replaced.filter(({ path }) => path === null || !waiting.has(path))
    await publishLoss(tx, { actor, report: { ...report, ...identity }, lost, now })
    await saveAttestations(tx, { ...report, trust, isNew: created }, attestations.rows, now)
    await upsertSubjects(tx, report, toSubjectRows(input.subjects ?? []), { isNew: created, at: now })
    await publishChange(services, tx, report)
    const isOtherRunner = job_instance === null && row.runner !== null && before?.runner !== row.runner
    const otherRunner = isOtherRunner ? (before?.runner ?? null) : null
    const about = job_key === null && jobs.has_others ? [SAME_NAME_DIFFERENT_JOB] : []
    return { row, beside, created, reserved, otherRunner, about }
  })
  const result = {
    report_id: row.id,
    run_id: runId,
    attempt: row.attempt,
    url: `${toBrowserAddress(services.config.baseUrl)}/runs/${runId}/reports/${row.id}`,
    trust: row.trust,
    stands_beside: beside?.id ?? null,
    uploads: await signSlots(services, actor, reserved.slots, now),
    skipped: reserved.skipped,
    warnings: [...about, ...attestations.warnings],
  }
  return { result, created, otherRunner }
}

function refuseLongSummary({ summary }: NewCiReport): void {
  if (summary === undefined || Buffer.byteLength(summary) <= SUMMARY_BYTES_MAX) return
  throw createInvalidFieldError('/body/summary', `must be at most ${SUMMARY_BYTES_MAX} bytes`)
}

const NOTHING: Awaited<ReturnType<typeof reserveArtifacts>> = { slots: [], skipped: [] }

/** Jobs with one name and matrix that a lane reports of a run. */
const JOBS_MAX = 100

type AttemptRequest = { actor: Actor; runId: string; input: NewReport; now: Date }
type ReportedAttempt = { attempt: number; run: RunToChange }

/** Locks the run. Returns it with the attempt that the report belongs to. */
async function lockAttempt(tx: Tx, { actor, runId, input, now }: AttemptRequest): Promise<ReportedAttempt> {
  const run = await lockRunFor(tx, actor, runId, now)
  if (run === null) throw createNotFoundError('run')
  const attempt = selectAttempt(actor, run, input.attempt)
  const stored = await findAttempt(tx, { org_id: actor.org_id, run_id: runId, attempt }, now)
  if (stored === null) throw createNotFoundError(`attempt with the number ${attempt}`)
  await requireOwnAttempt(tx, actor, run, stored.repository)
  const { repository, commit_sha } = stored
  requireExpected(input.expect, { repository: repository ?? run.address, commit_sha: commit_sha ?? run.commit_sha })
  return { attempt, run }
}

type NamedJob = { key: string | null; instance: string | null }

/**
 * What tells a job from others with its name: its key, else the execution; null if neither is
 * known. Where a job runs once in an attempt, another execution is another job, whatever the key.
 */
function formatJobIdentity({ key, instance }: NamedJob, run: RunSource): string | null {
  if (key === null && instance === null) return null
  const isOnce = hasJobsOnce(run.provider, run.ci_system)
  return JSON.stringify({
    ...(key !== null && { key }),
    ...((key === null || isOnce) && instance !== null && { instance }),
  })
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
 * run, and what tells jobs with one name apart, always have the same id, so that a second report
 * replaces the first (decisions §6, ci-evidence §2). The order
 * of the keys of the matrix does not matter.
 */
export function reportId(report: ReportOfRun): string {
  return hashIdentity(report, report.trust === 'self_reported' ? [] : [report.trust])
}

/** What API keys send without more than a name has the ids that it had before reports had lanes. */
function hashIdentity(report: ReportOfRun, lane: TrustClass[]): string {
  const { runId, attempt, job_name, matrix, name, job_identity } = report
  const parts = [
    runId,
    attempt,
    job_name,
    sortMatrix(matrix),
    name,
    ...lane,
    ...(job_identity === null ? [] : [job_identity]),
  ]
  const digest = hash('sha256', JSON.stringify(parts), 'hex')
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
