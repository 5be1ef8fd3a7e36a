import { type Actor, formatCredential } from '../../access/actor.ts'
import { otherLane } from '../../errors/ci.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { createInvalidFieldError, createNotFoundError } from '../../platform/http/errors.ts'
import { publish } from '../../platform/queue/event.ts'
import { truncate } from '../../platform/text.ts'
import type { Services } from '../../services.ts'
import { artifactCompleted, evidenceReplaced, ownershipCompleted, reportChanged } from '../runs/run.events.ts'
import { lockRunFor } from '../runs/token-run.ts'
import { getLane, type TrustClass } from '../runs/trust.ts'
import type { ArtifactItem } from './artifact.schema.ts'
import { countArtifacts, type ReportKey, updateAnnounced } from './artifact.store.ts'
import { signSlots } from './artifact-object.ts'
import { countAttestations, type LostEvidence, listLostEvidence } from './attestation.store.ts'
import { API_RULES, readAttestations } from './read-attestations.ts'
import type { AttestationItem, ReportPath } from './report.schema.ts'
import { lockReport, type ReportRow } from './report.store.ts'
import { checkArtifactPaths, reserveArtifacts } from './reserve-artifacts.ts'
import { saveAttestations } from './save-attestations.ts'

/**
 * Runs `change` in a transaction that first locks the run, then the report. `trust` is the class of
 * what the actor states about the run. Throws 404 when either does not exist, and 403 `other_lane`
 * for a report of another class.
 */
export async function withLockedReport<Result>(
  { sql, clock }: Services,
  actor: Actor,
  report: ReportKey,
  change: (tx: Tx, trust: TrustClass, stored: ReportPlace) => Promise<Result>,
): Promise<Result> {
  return (await sql.begin(async (tx) => {
    const run = await lockRunFor(tx, actor, report.run_id, clock.now())
    if (run === null) throw createNotFoundError('run')
    const stored = await lockReport(tx, report)
    if (stored === null) throw createNotFoundError('report of the run')
    if (stored.trust !== run.stated) throw otherLane('The report was sent by another kind of credential')
    return change(tx, run.stated, stored)
  })) as Result
}

/**
 * Publishes that a report has changed, and which of its named artifacts are uploaded and can be
 * read. Throws 429 if too much of what the lane has sent waits to be read.
 */
export async function publishChange(services: Services, tx: Tx, report: ReportKey): Promise<void> {
  const { org_id, run_id } = report
  const named = await updateAnnounced(tx, report)
  const read = named.filter(({ kinds }) => kinds.some((kind) => kind !== 'ownership'))
  for (const [lane, files] of Map.groupBy(read, ({ trust }) => getLane(trust))) {
    const bytes = files.reduce((sum, { size }) => sum + size, 0)
    await services.admitReads(tx, { org_id, lane, uploads: files.length, bytes })
  }
  for (const { id: artifact_id } of read) await publish(tx, artifactCompleted, { org_id, artifact_id })
  for (const { id: artifact_id, kinds } of named)
    if (kinds.includes('ownership')) await publish(tx, ownershipCompleted, { org_id, artifact_id })
  await publish(tx, reportChanged, { org_id, run_id })
}

/** Where a report stands in its run. */
type ReportPlace = Pick<ReportRow, 'attempt' | 'job_name'>

type Loss = { actor: Actor; report: ReportKey & ReportPlace; lost: readonly LostEvidence[]; now: Date }
const LOST_SHOWN_MAX = 3

/** Publishes who replaced or deleted what policies can have been given. */
export async function publishLoss(tx: Tx, { actor, report, lost, now }: Loss): Promise<void> {
  if (lost.length === 0) return
  const { org_id, run_id, attempt, job_name } = report
  const names = lost.slice(0, LOST_SHOWN_MAX).map(({ name }) => truncate(name, 100))
  const more = lost.length > names.length ? ` and ${lost.length - names.length} more` : ''
  const what = `${names.join(', ')}${more} of the job ${truncate(job_name, 100)}`
  const since = new Date(Math.min(...lost.map(({ at }) => at.getTime()))).toISOString()
  const by = formatCredential(actor)
  await publish(tx, evidenceReplaced, { org_id, run_id, attempt, what, by, since, at: now.toISOString() })
}

/** Limits of one report over all calls. */
const ATTESTATIONS_PER_REPORT_MAX = 200
const ARTIFACTS_PER_REPORT_MAX = 1000

/**
 * Merges attestations into a report by kind and name; none is deleted. Errors: 400
 * `kind_not_allowed`, `invalid_request`; 403 `other_lane`; 404; 429.
 */
export async function appendAttestations(services: Services, actor: Actor, path: ReportPath, items: AttestationItem[]) {
  const now = services.clock.now()
  const report = { org_id: actor.org_id, ...path }
  const { rows, warnings } = readAttestations(items, API_RULES, now)
  const stored = await withLockedReport(services, actor, report, async (tx, trust, place) => {
    const lost = await listLostEvidence(tx, report, { attestations: rows, artifacts: [] }, false)
    const merged = await saveAttestations(tx, { ...report, trust, isNew: false }, rows, now)
    if ((await countAttestations(tx, report)) > ATTESTATIONS_PER_REPORT_MAX) {
      throw tooMany('attestations', ATTESTATIONS_PER_REPORT_MAX)
    }
    await publishLoss(tx, { actor, report: { ...report, ...place }, lost, now })
    await publishChange(services, tx, report)
    return merged
  })
  // In the order of the request. A replaced one has kept its id.
  const attestations = rows.flatMap((row) => stored.filter(({ kind, name }) => kind === row.kind && name === row.name))
  return { report_id: report.report_id, attestations, warnings }
}

/**
 * Opens upload slots for files of a report. A file at a path that the report has already replaces
 * the stored one once it is completed, unless it is the same file. Errors: 400 `invalid_request`;
 * 403 `other_lane`; 404.
 */
export async function appendArtifacts(services: Services, actor: Actor, path: ReportPath, items: ArtifactItem[]) {
  const now = services.clock.now()
  const report = { org_id: actor.org_id, ...path }
  checkArtifactPaths(items)
  const { slots, skipped } = await withLockedReport(services, actor, report, async (tx, trust) => {
    const reserved = await reserveArtifacts(tx, { actor, report, trust, items, isWhole: false, now })
    if ((await countArtifacts(tx, report)) > ARTIFACTS_PER_REPORT_MAX) {
      throw tooMany('artifacts', ARTIFACTS_PER_REPORT_MAX)
    }
    return reserved
  })
  const uploads = await signSlots(services, actor, slots, now)
  return { report_id: report.report_id, uploads, skipped, warnings: [] }
}

function tooMany(field: 'attestations' | 'artifacts', max: number) {
  return createInvalidFieldError(
    `/body/${field}`,
    `must not increase the number of ${field} of the report above ${max}`,
  )
}
