import type { ReportFigures } from '../../ci/reports/attestation.ts'
import { recordFigures } from '../../ci/reports/store-attestations.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { runStoppable } from '../../platform/db/transaction.ts'
import { publish } from '../../platform/queue/event.ts'
import { enqueue } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import type { ReportFormat, UploadFormat, VexFormat } from '../formats/catalogue.ts'
import { isVexFormat } from '../formats/catalogue.ts'
import { readFormat } from '../formats/read-report.ts'
import type { ReportSource, ReportSummary } from '../formats/report/parsed-report.ts'
import { NO_OUTCOME, type ReportToReconcile, reconcileReport } from '../reconcile/reconcile-report.ts'
import { followStatements } from '../vex/apply-statements.ts'
import { importDocument } from '../vex/import-document.ts'
import { toFindingOrigin } from '../vocabulary/finding.ts'
import { copyReport } from './copy-report.ts'
import { readUploadJob } from './read-upload.job.ts'
import { uploadFinished } from './upload.events.ts'
import {
  type FinishedUpload,
  type NewestRequest,
  type UploadKey,
  type UploadToRead,
  updateFinished,
  updateQueued,
} from './upload-state.store.ts'

/** What is applied: an upload that is being read, with its detected format. */
type Reading = UploadKey & { upload: UploadToRead; source: ReportSource }
type Applied = { result: FinishedUpload; at: Date }

/**
 * Reads a file and brings the stored findings in line with it, in one transaction: a file that
 * cannot be read changes nothing. Returns its format. Throws the errors of `readReport`.
 */
export async function applyReport(
  services: Services,
  key: UploadKey,
  upload: UploadToRead,
  source: ReportSource,
): Promise<UploadFormat> {
  const format = await readFormat(source, upload.requested_format)
  await runStoppable(services.sql, source.stopping, async (tx) => {
    const reading = { ...key, upload, source }
    const { result, at } = isVexFormat(format)
      ? await applyDocument(services, tx, { ...reading, format })
      : await applyFindings(services, tx, { ...reading, format })
    const newest = await finish(tx, key, result, at)
    if (isNewer(newest, upload)) await readAgain(tx, key, at)
    if (upload.artifact_id === null) return
    const { findings, components, outcome } = result
    const figures: ReportFigures = { format, findings, components, openBySeverity: outcome.openBySeverity }
    await recordFigures(tx, { org_id: key.org_id, id: upload.artifact_id }, figures, at)
  })
  return format
}

async function applyFindings(
  services: Services,
  tx: Tx,
  { org_id, id, upload, source, format }: Reading & { format: ReportFormat },
): Promise<Applied> {
  const { incoming, report } = await copyReport(services, tx, { ...upload, org_id, id, source, format })
  const reconciling = toReconcile({ org_id, id }, upload, { ...report, format })
  const { outcome, at, ...reconciled } = await reconcileReport(incoming, reconciling, services.clock, followStatements)
  return { result: { ...report, format, warnings: [...report.warnings, ...reconciled.warnings], outcome }, at }
}

/** A VEX document contains no findings. It changes the state of stored ones. */
async function applyDocument(
  services: Services,
  tx: Tx,
  { org_id, id, upload, source, format }: Reading & { format: VexFormat },
): Promise<Applied> {
  const imported = await importDocument(services, tx, { ...upload, org_id, upload_id: id, source, format })
  const { warnings, changed, at } = imported
  const outcome = { ...NO_OUTCOME, updated: changed }
  return {
    result: { format, category: null, findings: 0, components: 0, truncated: false, warnings, outcome },
    at,
  }
}

type ReadReport = ReportSummary & { format: ReportFormat }

/** The category that the upload states has priority over the category in the report. */
function toReconcile({ org_id, id }: UploadKey, upload: UploadToRead, report: ReadReport): ReportToReconcile {
  const { repository_no, git_ref, commit_sha, tracked, reported_at } = upload
  return {
    org_id,
    repository_no,
    git_ref,
    commit_sha,
    tracked,
    reported_at,
    upload_id: id,
    category: upload.category ?? report.category,
    source: report.format,
    origin: toFindingOrigin(upload.origin),
    summary: report,
  }
}

async function finish(tx: Tx, key: UploadKey, result: FinishedUpload, at: Date): Promise<NewestRequest> {
  const newest = await updateFinished(tx, key, result, at)
  if (newest === null) throw new Error(`Upload ${key.id} ended while its report was being processed`)
  await publish(tx, uploadFinished, { org_id: key.org_id, upload_id: key.id })
  return newest
}

/** True if the file was submitted again for another commit while it was being read. */
function isNewer(newest: NewestRequest, { commit_sha, reported_at }: NewestRequest): boolean {
  return newest.reported_at > reported_at || newest.commit_sha !== commit_sha
}

async function readAgain(tx: Tx, key: UploadKey, at: Date): Promise<void> {
  await updateQueued(tx, key, at)
  await enqueue(tx, readUploadJob, { org_id: key.org_id, upload_id: key.id })
}
