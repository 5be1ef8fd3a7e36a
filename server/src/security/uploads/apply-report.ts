import { Type } from 'typebox'
import { noteParsed } from '../../ci/reports/attestation.store.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { beginStoppable } from '../../platform/db/transaction.ts'
import { type Event, publish } from '../../platform/queue/event.ts'
import type { Services } from '../../services.ts'
import type { ReportSource } from '../formats/report/parsed-report.ts'
import { type ReportToReconcile, reconcileReport } from '../reconcile/reconcile-report.ts'
import { findingOrigin } from '../vocabulary/finding.ts'
import { copyReport, type ParsedReport } from './copy-report.ts'
import type { ReportFigures } from './upload.store.ts'
import { type FinishedUpload, markFinished, type UploadKey, type UploadToRead } from './upload-state.store.ts'

type UploadFinished = { org_id: string; upload_id: string }

/** Published when the findings of a report are stored. */
export const uploadFinished: Event<UploadFinished> = {
  name: 'security.upload.finished',
  payload: Type.Object({ org_id: Type.String(), upload_id: Type.String() }),
}

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
    await finish(tx, key, { ...report, warnings, outcome }, at)
    if (upload.artifact_id === null) return
    const { format, findings, components } = report
    const figures: ReportFigures = { format, findings, components, openBySeverity: outcome.openBySeverity }
    await noteParsed(tx, { org_id: key.org_id, id: upload.artifact_id }, figures, at)
  })
}

/** The category that the upload states has priority over the category in the report. */
function toReconcile({ org_id }: UploadKey, upload: UploadToRead, report: ParsedReport): ReportToReconcile {
  const { repository_no, git_ref, commit_sha, tracked, reported_at } = upload
  return {
    ...{ org_id, repository_no, git_ref, commit_sha, tracked, reported_at },
    category: upload.category ?? report.category,
    source: report.format,
    origin: findingOrigin(upload.origin),
    summary: report,
  }
}

async function finish(tx: Tx, key: UploadKey, result: FinishedUpload, at: Date): Promise<void> {
  const isOurs = await markFinished(tx, key, result, at)
  if (!isOurs) throw new Error(`Upload ${key.id} ended while its report was being processed`)
  await publish(tx, uploadFinished, { org_id: key.org_id, upload_id: key.id })
}
