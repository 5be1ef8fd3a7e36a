import { noteParsed } from '../../ci/reports/attestation.store.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { beginStoppable } from '../../platform/db/stoppable-transaction.ts'
import { publish } from '../../platform/queue/event.ts'
import type { Services } from '../../services.ts'
import { readReport } from '../formats/read-report.ts'
import type { ParsedFinding, ReportFormat, ReportSource, ReportSummary } from '../formats/report/parsed-report.ts'
import { contextHasher } from '../issues/grouping/context-hash.ts'
import { countOpenBySeverity } from '../reconcile/finding-merge.store.ts'
import { copyIncoming } from '../reconcile/finding-pairing.store.ts'
import { lockStreams, type StreamFacts } from '../reconcile/finding-stream.store.ts'
import { incomingLine } from '../reconcile/incoming-finding.ts'
import { mergeReport } from '../reconcile/merge-report.ts'
import { ReportFacts } from '../reconcile/report-facts.ts'
import { ParsingProgress, type UploadId } from './parsing-progress.ts'
import { uploadFinished } from './upload-finished.event.ts'
import { type FinishedUpload, markFinished, type UploadToRead } from './upload-state.store.ts'

const OUTDATED = 'A newer report of the same tool was read before this one, which changed none of its findings.'

type Report = ReportSummary & { format: ReportFormat }
/**
 * Reads a report and brings the findings in line with it, all in one transaction: a report that turns out broken
 * leaves everything as it was. An artifact's attestations get the figures. Throws what `readReport` throws.
 */
export async function applyReport(
  services: Services,
  key: UploadId,
  upload: UploadToRead,
  source: ReportSource,
): Promise<void> {
  await beginStoppable(services.sql, source.stopping, async (tx) => {
    const reportFacts = new ReportFacts(upload.tracked)
    const report = await copyReport(services, tx, key, upload, source, reportFacts)
    const facts = streamFacts(upload, report)
    const streams = await lockStreams(tx, streamKey(key, upload, report), toolNames(report), facts)
    // Read once the locks are held, so that what is committed later was also made later.
    const at = services.clock.now()
    const current = streams.filter((stream) => stream.reported_at <= upload.reported_at)
    const { warnings: held, ...done } = await mergeReport(
      tx,
      key.org_id,
      upload,
      report,
      current,
      facts,
      reportFacts,
      at,
    )
    const streamIds = streams.map((stream) => stream.id)
    const openBySeverity = await countOpenBySeverity(tx, key.org_id, streamIds)
    const outdated = current.length < streams.length ? [OUTDATED] : []
    const warnings = [...report.warnings, ...held, ...outdated]
    await finish(tx, key, { ...report, warnings, outcome: { ...done, openBySeverity } }, at)
    if (upload.artifact_id === null) return
    const { format, findings, components } = report
    const artifact = { org_id: key.org_id, id: upload.artifact_id }
    await noteParsed(tx, artifact, { format, findings, components, openBySeverity }, at)
  })
}

async function finish(tx: Tx, key: UploadId, result: FinishedUpload, at: Date): Promise<void> {
  const stillOurs = await markFinished(tx, key.org_id, key.id, result, at)
  if (!stillOurs) throw new Error(`Upload ${key.id} ended while it was read.`)
  await publish(tx, uploadFinished, { org_id: key.org_id, upload_id: key.id })
}

/** Streams the findings into the transaction's temporary table while the report is being parsed. */
async function copyReport(
  services: Services,
  tx: Tx,
  key: UploadId,
  upload: UploadToRead,
  source: ReportSource,
  facts: ReportFacts,
): Promise<Report> {
  const contextHash = contextHasher(services.contextKey)
  const toLine = (finding: ParsedFinding) => {
    const context = finding.context === null ? null : contextHash(finding.context)
    return incomingLine(finding, facts.add(finding, context), context)
  }
  const progress = new ParsingProgress(services, key)
  const copy = await copyIncoming(tx)
  try {
    const report = await readReport(source, upload.requested_format, async (findings) => {
      await copy.writeLines(findings.map(toLine))
      progress.add(findings.length)
    })
    await copy.end()
    return report
  } catch (error) {
    await copy.abort(error as Error)
    throw error
  } finally {
    await progress.settled()
  }
}

/** A category that the report itself names counts where the upload names none. */
function streamKey(key: UploadId, upload: UploadToRead, report: Report) {
  const { repository_no, git_ref } = upload
  return { org_id: key.org_id, repository_no, git_ref, category: upload.category ?? report.category }
}

function streamFacts(upload: UploadToRead, report: Report): StreamFacts {
  const origin = upload.origin === 'report' ? 'report' : 'upload'
  return { source: report.format, origin, tracked: upload.tracked }
}

function toolNames(report: Report): string[] {
  return [...new Set(report.tools.map((tool) => tool.name))].sort()
}
