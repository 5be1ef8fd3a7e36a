import type { CallOptions, Connection, SuccessOf } from './api.ts'
import { hashSource } from './files/hash-source.ts'
import { sendToSlot } from './files/put-slot.ts'
import type { Source } from './files/source.ts'
import type { components, operations } from './openapi.ts'

export type ReportResult = components['schemas']['CiReportResult']
export type NewReport = Omit<CallOptions<operations['createCiReport']>['body'], 'artifacts'>
/** A file and its path within the report. */
export type ReportFile = { path: string; source: Source }
type CompletedArtifact = SuccessOf<operations['completeCiArtifacts']>['data']['results'][number]
/** What became of a file that was sent. */
export type ArtifactResult = CompletedArtifact & { path: string }

export type SendReportOptions = {
  /** Called with the number of bytes of this file that have been sent, at most ten times a second. */
  onProgress?: ((path: string, sentBytes: number) => void) | undefined
  signal?: AbortSignal | undefined
}

type Sending = Connection & { files: ReportFile[] } & SendReportOptions

/** The most artifacts and attestations that one request takes. */
const ARTIFACTS_MAX = 50
const ATTESTATIONS_MAX = 20
const PARALLEL_FILES = 4

/**
 * Stores the report of a job, sends its files and completes them. `report` also contains what was
 * skipped, and `results` the files that were sent. If files cannot be sent, the others are
 * completed before the error is thrown. Safe to repeat.
 */
export async function sendReport(
  sending: Sending,
  runId: string,
  report: NewReport,
): Promise<{ report: ReportResult; results: ArtifactResult[] }> {
  const stored = await storeReport(sending, runId, report)
  const failures = await sendFiles(sending, stored.uploads)
  const results = await completeFiles(sending, stored)
  if (failures.length > 0) throw failures[0]
  return { report: stored, results }
}

/** Creates the report with as much as one request takes, and adds the rest. */
async function storeReport({ api, files, signal }: Sending, runId: string, report: NewReport): Promise<ReportResult> {
  const artifacts = []
  for (const { path, source } of files) artifacts.push({ path, ...(await hashSource(source, { signal })) })
  const [first = [], ...rest] = inParts(artifacts, ARTIFACTS_MAX)
  const [attestations = [], ...moreAttestations] = inParts(report.attestations ?? [], ATTESTATIONS_MAX)
  const created = await api.POST('/v1/ci/runs/{run_id}/reports', {
    params: { path: { run_id: runId } },
    body: { ...report, attestations, artifacts: first },
    signal,
  })
  const stored = created.data.data
  const params = { path: { run_id: stored.run_id, report_id: stored.report_id } }
  for (const attestations of moreAttestations) {
    const added = await api.POST('/v1/ci/runs/{run_id}/reports/{report_id}/attestations', {
      params,
      body: { attestations },
      signal,
    })
    stored.warnings.push(...added.data.data.warnings)
  }
  for (const artifacts of rest) {
    const added = await api.POST('/v1/ci/runs/{run_id}/reports/{report_id}/artifacts', {
      params,
      body: { artifacts },
      signal,
    })
    stored.uploads.push(...added.data.data.uploads)
    stored.skipped.push(...added.data.data.skipped)
    stored.warnings.push(...added.data.data.warnings)
  }
  return stored
}

/** Sends the files, a few at a time. Returns the errors of those that failed. */
async function sendFiles(
  { files, settings, onProgress, signal }: Sending,
  slots: ReportResult['uploads'],
): Promise<unknown[]> {
  const sources = new Map(files.map(({ path, source }) => [path, source]))
  const signals = [signal, settings.signal]
  const failures: unknown[] = []
  const waiting = [...slots]
  const sendNext = async () => {
    for (let slot = waiting.shift(); slot; slot = waiting.shift()) {
      const { path } = slot
      const following = { onProgress: (sentBytes: number) => onProgress?.(path, sentBytes), signals }
      await sendToSlot(settings, slot, sources.get(path) as Source, following).catch((error) => failures.push(error))
      for (const one of signals) one?.throwIfAborted()
    }
  }
  await Promise.all(Array.from({ length: PARALLEL_FILES }, sendNext))
  return failures
}

async function completeFiles(
  { api, signal }: Sending,
  { run_id, report_id, uploads }: ReportResult,
): Promise<ArtifactResult[]> {
  const paths = new Map(uploads.map(({ artifact_id, path }) => [artifact_id, path]))
  const results: ArtifactResult[] = []
  for (const artifact_ids of inParts([...paths.keys()], ARTIFACTS_MAX)) {
    const { data } = await api.POST('/v1/ci/runs/{run_id}/reports/{report_id}/artifacts/complete', {
      params: { path: { run_id, report_id } },
      body: { artifact_ids },
      signal,
    })
    results.push(...data.data.results.map((result) => ({ ...result, path: paths.get(result.artifact_id) ?? '' })))
  }
  return results
}

function inParts<T>(items: readonly T[], size: number): T[][] {
  const parts: T[][] = []
  for (let at = 0; at < items.length; at += size) parts.push(items.slice(at, at + size))
  return parts
}
