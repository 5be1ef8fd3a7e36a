import type { CallOptions, Connection, SuccessOf } from './api.ts'
import { hashSource } from './files/hash-source.ts'
import { type PutSlotsOptions, type ReportFile, sendToSlots } from './files/put-slots.ts'
import type { components, operations } from './openapi.ts'

export type ReportResult = components['schemas']['CiReportResult']
export type NewReport = Omit<CallOptions<operations['createCiReport']>['body'], 'artifacts'>
type CompletedArtifact = SuccessOf<operations['completeCiArtifacts']>['data']['results'][number]
/** What became of a file that was sent. */
export type ArtifactResult = CompletedArtifact & { path: string }

export type SendReportOptions = Pick<PutSlotsOptions, 'onProgress' | 'signal'>

type Sending = Connection & { files: ReportFile[] } & SendReportOptions
type Slots = ReportResult['uploads']
type ReportPath = { run_id: string; report_id: string }
/** What became of the files of one request: the results, and the errors of those that failed. */
type Sent = { results: ArtifactResult[]; failures: unknown[] }

/** The most artifacts and attestations that one request takes. */
const ARTIFACTS_MAX = 50
const ATTESTATIONS_MAX = 20

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
  const [artifacts = [], ...more] = inParts(await describeFiles(sending), ARTIFACTS_MAX)
  const [attestations = [], ...moreAttestations] = inParts(report.attestations ?? [], ATTESTATIONS_MAX)
  const { api, signal } = sending
  const params = { path: { run_id: runId } }
  const body = { ...report, attestations, artifacts }
  const stored = (await api.POST('/v1/ci/runs/{run_id}/reports', { params, body, signal })).data.data
  for (const part of moreAttestations) await addAttestations(sending, stored, part)
  const sent = [await sendFiles(sending, stored, stored.uploads)]
  // Slots expire, so the next ones are requested when the last ones have been used.
  for (const part of more) sent.push(await sendFiles(sending, stored, await addArtifacts(sending, stored, part)))
  const [failure] = sent.flatMap(({ failures }) => failures)
  if (failure !== undefined) throw failure
  return { report: stored, results: sent.flatMap(({ results }) => results) }
}

type NewArtifact = NonNullable<CallOptions<operations['createCiReport']>['body']['artifacts']>[number]
type NewAttestation = NonNullable<NewReport['attestations']>[number]

async function describeFiles({ files, signal }: Sending): Promise<NewArtifact[]> {
  const artifacts = []
  for (const { path, source } of files) artifacts.push({ path, ...(await hashSource(source, { signal })) })
  return artifacts
}

async function addAttestations({ api, signal }: Sending, stored: ReportResult, attestations: NewAttestation[]) {
  const added = await api.POST('/v1/ci/runs/{run_id}/reports/{report_id}/attestations', {
    params: { path: pathOf(stored) },
    body: { attestations },
    signal,
  })
  stored.warnings.push(...added.data.data.warnings)
}

/** Adds the answer to the stored report. Returns the new slots. */
async function addArtifacts({ api, signal }: Sending, stored: ReportResult, artifacts: NewArtifact[]): Promise<Slots> {
  const added = await api.POST('/v1/ci/runs/{run_id}/reports/{report_id}/artifacts', {
    params: { path: pathOf(stored) },
    body: { artifacts },
    signal,
  })
  const { uploads, skipped, warnings } = added.data.data
  stored.uploads = [...stored.uploads, ...uploads]
  stored.skipped.push(...skipped)
  stored.warnings.push(...warnings)
  return uploads
}

/** Sends the files of the slots and completes them. */
async function sendFiles(sending: Sending, stored: ReportResult, slots: Slots): Promise<Sent> {
  const { files, settings, onProgress, signal } = sending
  const failures = await sendToSlots(settings, slots, files, { onProgress, signals: [signal, settings.signal] })
  return { results: await completeFiles(sending, stored, slots), failures }
}

async function completeFiles({ api, signal }: Sending, stored: ReportResult, slots: Slots): Promise<ArtifactResult[]> {
  if (slots.length === 0) return []
  const paths = new Map(slots.map(({ artifact_id, path }) => [artifact_id, path]))
  const { data } = await api.POST('/v1/ci/runs/{run_id}/reports/{report_id}/artifacts/complete', {
    params: { path: pathOf(stored) },
    body: { artifact_ids: [...paths.keys()] },
    signal,
  })
  return data.data.results.map((result) => ({ ...result, path: paths.get(result.artifact_id) ?? '' }))
}

function pathOf({ run_id, report_id }: ReportResult): ReportPath {
  return { run_id, report_id }
}

function inParts<T>(items: readonly T[], size: number): T[][] {
  const parts: T[][] = []
  for (let at = 0; at < items.length; at += size) parts.push(items.slice(at, at + size))
  return parts
}
