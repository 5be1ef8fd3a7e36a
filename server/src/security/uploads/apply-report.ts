import type { ReportFigures } from '../../ci/reports/attestation.ts'
import { noteFigures } from '../../ci/reports/store-attestations.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { beginStoppable } from '../../platform/db/transaction.ts'
import { publish } from '../../platform/queue/event.ts'
import { enqueue } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import type { ReportSource } from '../formats/report/parsed-report.ts'
import { type ReportToReconcile, reconcileReport } from '../reconcile/reconcile-report.ts'
import { findingOrigin } from '../vocabulary/finding.ts'
import { copyReport, type ParsedReport } from './copy-report.ts'
import { readUploadJob, uploadFinished } from './upload-file.ts'
import {
  type FinishedUpload,
  markFinished,
  markQueued,
  type NewestRequest,
  type UploadKey,
  type UploadToRead,
} from './upload-state.store.ts'

/**
 * Parses a report and brings the stored findings in line with it, in one transaction: a report that
 * cannot be read changes nothing. Throws the errors of `readReport`.
 */
export async function applyReport(
  services: Services,
  key: UploadKey,
  upload: UploadToRead,
  source: ReportSource,
): Promise<void> {
  await beginStoppable(services.sql, source.stopping, async (tx) => {
    const { incoming, report } = await copyReport(services, tx, { ...upload, ...key, source })
    const reconciled = await reconcileReport(incoming, toReconcile(key, upload, report), services.clock)
    const { outcome, at } = reconciled
    const warnings = [...report.warnings, ...reconciled.warnings]
    const newest = await finish(tx, key, { ...report, warnings, outcome }, at)
    if (isNewer(newest, upload)) await readAgain(tx, key, at)
    if (upload.artifact_id === null) return
    const { format, findings, components } = report
    const figures: ReportFigures = { format, findings, components, openBySeverity: outcome.openBySeverity }
    await noteFigures(tx, { org_id: key.org_id, id: upload.artifact_id }, figures, at)
  })
}

/** The category that the upload states has priority over the category in the report. */
function toReconcile({ org_id, id }: UploadKey, upload: UploadToRead, report: ParsedReport): ReportToReconcile {
  const { repository_no, git_ref, commit_sha, tracked, reported_at } = upload
  return {
    ...{ org_id, repository_no, git_ref, commit_sha, tracked, reported_at },
    upload_id: id,
    category: upload.category ?? report.category,
    source: report.format,
    origin: findingOrigin(upload.origin),
    summary: report,
  }
}

async function finish(tx: Tx, key: UploadKey, result: FinishedUpload, at: Date): Promise<NewestRequest> {
  const newest = await markFinished(tx, key, result, at)
  if (newest === null) throw new Error(`Upload ${key.id} ended while its report was being processed`)
  await publish(tx, uploadFinished, { org_id: key.org_id, upload_id: key.id })
  return newest
}

/** True if the file was submitted again for another commit while it was being read. */
function isNewer(newest: NewestRequest, { commit_sha, reported_at }: NewestRequest): boolean {
  return newest.reported_at > reported_at || newest.commit_sha !== commit_sha
}

async function readAgain(tx: Tx, key: UploadKey, at: Date): Promise<void> {
  await markQueued(tx, key, at)
  await enqueue(tx, readUploadJob, { org_id: key.org_id, upload_id: key.id })
}
