import type { ReportFigures } from '../../ci/reports/attestation.ts'
import { recordFigures } from '../../ci/reports/save-attestations.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { runStoppable } from '../../platform/db/transaction.ts'
import { publish } from '../../platform/queue/event.ts'
import { enqueue } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { isVexFormat, type ReportFormat, type UploadFormat, type VexFormat } from '../formats/catalogue.ts'
import { readFormat, readReport } from '../formats/read-report.ts'
import type { ParsedFinding, ReportSource, ReportSummary } from '../formats/report/parsed-report.ts'
import { createContextHasher } from '../issues/grouping/grouping-facts.ts'
import { KnownRules } from '../issues/grouping/known-rules.ts'
import { copyIncoming, type Incoming } from '../reconcile/incoming.store.ts'
import { NO_OUTCOME, type ReportToReconcile, reconcileReport } from '../reconcile/reconcile-report.ts'
import { ReportMembers } from '../reconcile/report-members.ts'
import { requireKnownRepository } from '../repositories/reported-repository.store.ts'
import { followStatements } from '../vex/apply-statements.ts'
import { importDocument } from '../vex/import-document.ts'
import { toFindingOrigin } from '../vocabulary/finding.ts'
import { readUploadJob, uploadFinished } from './read-upload.job.ts'
import {
  type FinishedUpload,
  type NewestRequest,
  type UploadKey,
  type UploadToRead,
  updateFinished,
  updateProgress,
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
    const newest = await updateFinished(tx, key, result, at)
    if (newest === null) throw new Error(`Upload ${key.id} ended while its report was being processed`)
    await publish(tx, uploadFinished, { org_id: key.org_id, upload_id: key.id })
    if (isNewer(newest, upload)) {
      await updateQueued(tx, key, at)
      await enqueue(tx, readUploadJob, { org_id: key.org_id, upload_id: key.id })
    }
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

/** True if the file was submitted again for another commit while it was being read. */
function isNewer(newest: NewestRequest, { commit_sha, reported_at }: NewestRequest): boolean {
  return newest.reported_at > reported_at || newest.commit_sha !== commit_sha
}

const PROGRESS_EVERY_MS = 1000

type UploadToCopy = UploadKey &
  Pick<UploadToRead, 'repository_no' | 'tracked'> & { format: ReportFormat; source: ReportSource }

/** Streams the findings of a report into the transaction while the report is being parsed. */
async function copyReport(
  services: Services,
  tx: Tx,
  upload: UploadToCopy,
): Promise<{ incoming: Incoming; report: ReportSummary }> {
  const progress = new ParsingProgress(services, upload)
  const rules = new KnownRules(services.ruleMap)
  const members = new ReportMembers(upload.tracked, createContextHasher(services.contextKey), rules)
  const copy = await copyIncoming(tx, members)
  try {
    const onFindings = async (findings: ParsedFinding[]) => {
      await copy.write(findings)
      progress.add(findings.length)
    }
    // On another connection, because the transaction is busy with the copy.
    const readRepository = () => requireKnownRepository(services.sql, upload.org_id, upload.repository_no)
    const report = await readReport(upload.source, upload.format, onFindings, readRepository)
    return { incoming: await copy.end(), report }
  } catch (error) {
    await copy.abort(error as Error)
    throw error
  } finally {
    await progress.settled()
  }
}

/** Stores how many findings were parsed so far, on another connection and at most once a second. */
class ParsingProgress {
  readonly #services: Services
  readonly #upload: UploadKey
  #findings = 0
  #storedAt: number
  #storing: Promise<void> = Promise.resolve()

  constructor(services: Services, upload: UploadKey) {
    this.#services = services
    this.#upload = upload
    this.#storedAt = services.clock.now().getTime()
  }

  add(findings: number): void {
    this.#findings += findings
    const { sql, clock, log } = this.#services
    const { id } = this.#upload
    const now = clock.now()
    if (now.getTime() - this.#storedAt < PROGRESS_EVERY_MS) return
    this.#storedAt = now.getTime()
    this.#storing = updateProgress(sql, this.#upload, this.#findings, now).catch((err) =>
      log.warn({ err, upload_id: id }, 'Could not store the progress of an upload'),
    )
  }

  settled(): Promise<void> {
    return this.#storing
  }
}
