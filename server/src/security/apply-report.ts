import type { Tx } from '../platform/db/sql.ts'
import { newUuidSeries } from '../platform/ids.ts'
import type { Services } from '../services.ts'
import {
  copyIncoming,
  countOpenBySeverity,
  insertNew,
  keyIncoming,
  lockStreams,
  type SeverityCounts,
  settleMissing,
  type Stream,
  updateChanged,
  updateStreams,
} from './finding-merge.store.ts'
import { IncomingFindings } from './incoming-finding.ts'
import type { ReportFormat, ReportSource, ReportSummary } from './parsers/parsed-report.ts'
import { readReport } from './parsers/read-report.ts'
import { type FinishedUpload, markFinished, noteProgress, type UploadToRead } from './upload.store.ts'

const PROGRESS_EVERY_MS = 1000
const TRUNCATED =
  'The report holds more findings than are kept. No finding was closed, because those left out may still be there.'
const OUTDATED = 'A newer report of the same tool was read before this one, which changed none of its findings.'

type Report = ReportSummary & { format: ReportFormat }
export type ReportFigures = {
  format: ReportFormat
  findings: number
  components: number
  openBySeverity: SeverityCounts
}
export type UploadId = { org_id: string; id: string }

/**
 * Reads a report and brings the findings in line with it, all in one transaction: a report that turns out broken
 * leaves everything as it was. Returns what was read. Throws what `readReport` throws.
 */
export async function applyReport(
  services: Services,
  key: UploadId,
  upload: UploadToRead,
  source: ReportSource,
): Promise<ReportFigures> {
  return services.sql.begin(async (tx) => {
    const report = await copyReport(services, tx, key, upload, source)
    const at = services.clock.now()
    const streams = await lockStreams(tx, streamKey(key, upload, report), toolNames(report), {
      ...streamFacts(upload, report),
      at,
    })
    const current = streams.filter((stream) => stream.reported_at <= upload.reported_at)
    const outcome = await merge(tx, key, upload, report, current, at)
    const openBySeverity = await countOpenBySeverity(tx, key.org_id, streamIds(streams))
    const isOutdated = current.length < streams.length
    const warnings = [...report.warnings, ...(isOutdated ? [OUTDATED] : []), ...(report.truncated ? [TRUNCATED] : [])]
    await finish(tx, key, { ...report, warnings, outcome: { ...outcome, openBySeverity } }, at)
    const { format, findings, components } = report
    return { format, findings, components, openBySeverity }
  })
}

async function finish(tx: Tx, key: UploadId, result: FinishedUpload, at: Date): Promise<void> {
  const stillOurs = await markFinished(tx, key.org_id, key.id, result, at)
  if (!stillOurs) throw new Error(`Upload ${key.id} ended while it was read.`)
}

/** Streams the findings into the transaction's temporary table while the report is being parsed. */
async function copyReport(
  services: Services,
  tx: Tx,
  key: UploadId,
  upload: UploadToRead,
  source: ReportSource,
): Promise<Report> {
  const incoming = new IncomingFindings(newUuidSeries(services.clock.now()))
  const progress = new Progress(services, key)
  const copy = await copyIncoming(tx)
  try {
    const report = await readReport(source, upload.requested_format, async (findings) => {
      await copy.write(findings.map((finding) => incoming.toRow(finding)))
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

/** Tells those who wait how many findings were read so far, on another connection and not too often. */
class Progress {
  readonly #services: Services
  readonly #key: UploadId
  #findings = 0
  #toldAt: number
  #telling: Promise<void> = Promise.resolve()

  constructor(services: Services, key: UploadId) {
    this.#services = services
    this.#key = key
    this.#toldAt = services.clock.now().getTime()
  }

  add(findings: number): void {
    this.#findings += findings
    const { sql, clock, log } = this.#services
    const now = clock.now()
    if (now.getTime() - this.#toldAt < PROGRESS_EVERY_MS) return
    this.#toldAt = now.getTime()
    this.#telling = noteProgress(sql, this.#key.org_id, this.#key.id, this.#findings, now).catch((err) =>
      log.warn({ err, upload_id: this.#key.id }, 'progress was not noted'),
    )
  }

  settled(): Promise<void> {
    return this.#telling
  }
}

/** Streams that a newer report spoke of already are not among `streams`: their findings count as unchanged. */
async function merge(tx: Tx, key: UploadId, upload: UploadToRead, report: Report, streams: Stream[], at: Date) {
  const { org_id } = key
  const scope = { org_id, repository_no: upload.repository_no, streamIds: streamIds(streams), at }
  await keyIncoming(tx, streams)
  const updated = await updateChanged(tx, scope)
  const fresh = await insertNew(tx, scope)
  const resolved = await settleMissing(tx, scope, report.truncated ? 'keep' : 'resolve')
  const facts = { ...streamFacts(upload, report), commit_sha: upload.commit_sha, reported_at: upload.reported_at }
  await updateStreams(tx, org_id, streams, report.tools, facts, at)
  return {
    created: fresh.created,
    updated,
    unchanged: report.findings - fresh.created - updated,
    resolved,
    newIssues: fresh.open,
    newCritical: fresh.critical,
    newHigh: fresh.high,
  }
}

function streamIds(streams: Stream[]): number[] {
  return streams.map((stream) => stream.id)
}

/** A category that the report itself names counts where the upload names none. */
function streamKey(key: UploadId, upload: UploadToRead, report: Report) {
  const { repository_no, git_ref } = upload
  return { org_id: key.org_id, repository_no, git_ref, category: upload.category ?? report.category }
}

function streamFacts(upload: UploadToRead, report: Report) {
  const origin = upload.origin === 'report' ? 'report' : 'upload'
  return { source: report.format, origin, tracked: upload.tracked }
}

function toolNames(report: Report): string[] {
  return [...new Set(report.tools.map((tool) => tool.name))].sort()
}
