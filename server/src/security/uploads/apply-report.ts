import { isDeepStrictEqual } from 'node:util'
import type { ReportFigures } from '../../ci/reports/attestation.ts'
import { recordFigures } from '../../ci/reports/save-attestations.ts'
import { evidenceReplaced } from '../../ci/runs/run.events.ts'
import { listPackageNames } from '../../inventory/matches/match-scope.store.ts'
import { readSbom, recordSbom } from '../../inventory/sboms/record-sbom.ts'
import type { Sbom } from '../../inventory/sboms/sbom.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { runStoppable } from '../../platform/db/transaction.ts'
import { ObjectNotFoundError } from '../../platform/objects/object-store.ts'
import { publish } from '../../platform/queue/event.ts'
import { enqueue } from '../../platform/queue/job.ts'
import { truncate } from '../../platform/text.ts'
import type { Services } from '../../services.ts'
import type { ReportFormat, UploadFormat, VexFormat } from '../formats/catalogue.ts'
import { readFormat, readReport } from '../formats/read-report.ts'
import {
  type ParsedFinding,
  ReportError,
  type ReportSource,
  type ReportSummary,
  type ReportTool,
} from '../formats/report/parsed-report.ts'
import { createContextHasher } from '../issues/grouping/grouping-facts.ts'
import { KnownRules } from '../issues/grouping/known-rules.ts'
import { findUploadSubject } from '../issues/policy-facts.store.ts'
import { type MatchCounts, NO_MATCHES, reconcileMatches } from '../matches/reconcile-matches.ts'
import { closeStreamsOfUpload } from '../reconcile/close-stream.ts'
import { copyIncoming, type Incoming } from '../reconcile/incoming.store.ts'
import {
  NO_OUTCOME,
  type ReplacedReports,
  type ReportToReconcile,
  reconcileReport,
} from '../reconcile/reconcile-report.ts'
import { ReportMembers } from '../reconcile/report-members.ts'
import { requireKnownRepository } from '../repositories/reported-repository.store.ts'
import { followStatements } from '../vex/apply-statements.ts'
import { importDocument } from '../vex/import-document.ts'
import { toFindingOrigin } from '../vocabulary/finding.ts'
import { readUploadJob, uploadFinished } from './read-upload.job.ts'
import { openStored } from './stored-documents.ts'
import { listUnreadLanes, type UploadLane } from './upload.store.ts'
import {
  type FinishedUpload,
  type UploadKey,
  type UploadToRead,
  updateFinished,
  updateProgress,
  updateQueued,
} from './upload-state.store.ts'

/** What is applied: an upload that is being read, as one lane states it. */
type Reading = UploadKey & { upload: UploadToRead; stated: UploadLane; source: ReportSource }
type Applied = { result: FinishedUpload; at: Date }

/**
 * Reads a file and brings the stored findings in line with it, in each lane that sent it and in one
 * transaction for each: a file that cannot be read changes nothing. Returns its format. Throws the
 * errors of `readReport`.
 */
export async function applyReport(
  services: Services,
  key: UploadKey,
  { lanes, ...upload }: UploadToRead & { lanes: readonly UploadLane[] },
  source: ReportSource,
): Promise<UploadFormat> {
  const file = await readFormat(source, upload.requested_format)
  const sbom = file.isVex ? null : await readSbom(source, file.format)
  for (const [index, stated] of lanes.entries())
    await runStoppable(services.sql, source.stopping, async (tx) => {
      const reading = { ...key, upload, stated, source }
      const applied = file.isVex
        ? await applyDocument(services, tx, { ...reading, format: file.format })
        : await applyFindings(services, tx, { ...reading, format: file.format })
      if (sbom !== null) applied.result.matches = await applySbom(services, tx, { ...reading, applied }, sbom)
      if (index === lanes.length - 1) await finishUpload(tx, { ...key, upload, lanes }, applied)
    })
  return file.format
}

type ReadLanes = UploadKey & { upload: UploadToRead; lanes: readonly UploadLane[] }

/** Ends the reading, or starts it again if a lane has sent the file meanwhile. */
async function finishUpload(tx: Tx, { upload, lanes, ...key }: ReadLanes, { result, at }: Applied): Promise<void> {
  if (!(await updateFinished(tx, key, result, at)))
    throw new Error(`Upload ${key.id} ended while its report was being processed`)
  await publish(tx, uploadFinished, { org_id: key.org_id, upload_id: key.id })
  const isRead = (lane: UploadLane) => lanes.some((read) => isDeepStrictEqual({ ...read }, { ...lane }))
  if (!(await listUnreadLanes(tx, key)).every(isRead)) {
    await updateQueued(tx, key, at)
    await enqueue(tx, readUploadJob, { org_id: key.org_id, upload_id: key.id })
  }
  if (upload.artifact_id === null) return
  const { format, findings, components, outcome } = result
  const figures: ReportFigures = { format, findings, components, openBySeverity: outcome.openBySeverity }
  await recordFigures(tx, { org_id: key.org_id, id: upload.artifact_id }, figures, at)
}

/**
 * Stores the components of a bill of materials after its findings, and matches what is new or gone.
 */
async function applySbom(
  services: Services,
  tx: Tx,
  { org_id, id, upload, stated, applied: { result } }: Reading & { applied: Applied },
  sbom: Sbom,
): Promise<MatchCounts> {
  const { repository_no, git_ref } = upload
  const { lane, commit_sha, tracked, complete, confirmed, reported_at } = stated
  const category = upload.category ?? result.category
  const { format } = result
  const { subject, changed, hasOtherSystem } = await recordSbom(
    tx,
    {
      ...{ org_id, upload_id: id, artifact_id: upload.artifact_id, repository_no, category, git_ref, format },
      ...{ lane, commit_sha, tracked, complete, confirmed, reported_at },
    },
    sbom,
  )
  const names = hasOtherSystem ? null : await listPackageNames(tx, org_id, changed)
  const scope = { org_id, repository_no, category, git_ref, subject, lane }
  return (await reconcileMatches(services, tx, scope, names)) ?? NO_MATCHES
}

async function applyFindings(
  services: Services,
  tx: Tx,
  { org_id, id, upload, stated, source, format }: Reading & { format: ReportFormat },
): Promise<Applied> {
  const { tracked } = stated
  const { incoming, report } = await copyReport(services, tx, { ...upload, org_id, id, tracked, source, format })
  const readTools = (uploadId: string) => readStoredTools(services, { org_id, id: uploadId }, source.stopping)
  const reconciling = { ...toReconcile({ org_id, id, upload, stated }, { ...report, format }), readTools }
  const { outcome, held, at, replaced, ...reconciled } = await reconcileReport(
    incoming,
    reconciling,
    services.clock,
    followStatements,
  )
  if (replaced !== null) await publishReplaced(tx, { org_id, id, upload, stated }, replaced, at)
  const warnings = [...report.warnings, ...reconciled.warnings]
  return { result: { ...report, format, warnings, outcome, held }, at }
}

const TOOLS_SHOWN_MAX = 3

/** Publishes that policies can have been given an earlier report. */
async function publishReplaced(
  tx: Tx,
  { org_id, id, upload, stated }: Omit<Reading, 'source'>,
  { tools, since }: ReplacedReports,
  at: Date,
): Promise<void> {
  const subject = await findUploadSubject(tx, org_id, id)
  if (subject === null) return
  const { git_ref } = upload
  const names = tools.slice(0, TOOLS_SHOWN_MAX).map((tool) => truncate(tool, 100))
  await publish(tx, evidenceReplaced, {
    org_id,
    repository: subject.name,
    ...(!stated.tracked && git_ref !== null && { branch: git_ref }),
    what: `the security report of ${names.join(', ')}${git_ref === null ? '' : ` for ${git_ref}`}`,
    by: stated.sender_name,
    since: since.toISOString(),
    at: at.toISOString(),
  })
}

/**
 * A VEX document contains no findings. It changes the state of stored ones. What an earlier version
 * of the program read in it as findings ends (decisions §8, M7).
 */
async function applyDocument(
  services: Services,
  tx: Tx,
  { org_id, id, upload, stated, source, format }: Reading & { format: VexFormat },
): Promise<Applied> {
  await closeStreamsOfUpload(tx, { org_id, upload_id: id }, services.clock.now())
  const imported = await importDocument(services, tx, { ...upload, ...stated, org_id, upload_id: id, source, format })
  const { warnings, changed, at } = imported
  const outcome = { ...NO_OUTCOME, updated: changed }
  return {
    result: { format, category: null, findings: 0, components: 0, truncated: false, warnings, outcome, held: null },
    at,
  }
}

type ReadReport = ReportSummary & { format: ReportFormat }

/** The category that the upload states has priority over the category in the report. */
function toReconcile({ org_id, id, upload, stated }: Omit<Reading, 'source'>, report: ReadReport) {
  const { repository_no, git_ref, was_read } = upload
  const { lane, commit_sha, tracked, complete, confirmed, reported_at } = stated
  return {
    org_id,
    repository_no,
    git_ref,
    was_read,
    lane,
    commit_sha,
    tracked,
    complete,
    confirmed,
    reported_at,
    upload_id: id,
    category: upload.category ?? report.category,
    source: report.format,
    origin: toFindingOrigin(upload.origin),
    summary: report,
  } satisfies Omit<ReportToReconcile, 'readTools'>
}

/** What a stored file states of its tools. Nothing if it is gone or cannot be read any more. */
async function readStoredTools(
  services: Services,
  { org_id, id }: UploadKey,
  stopping: AbortSignal | undefined,
): Promise<ReportTool[]> {
  const source = await openStored(services, { org_id, id }, stopping)
  if (source === null) return []
  try {
    const file = await readFormat(source, 'auto')
    return file.isVex ? [] : (await readReport(source, file.format, async () => {})).tools
  } catch (error) {
    if (error instanceof ReportError || error instanceof ObjectNotFoundError) return []
    throw error
  }
}

const PROGRESS_EVERY_MS = 1000

type UploadToCopy = UploadKey &
  Pick<UploadToRead, 'repository_no'> & { tracked: boolean; format: ReportFormat; source: ReportSource }

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
