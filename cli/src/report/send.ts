import type { Output } from '@shiplock/command-line/output'
import type { ArtifactResult, NewReport, ReportFile, ReportResult, ShiplockClient } from '@shiplock/sdk'
import { expectField, type RunName } from '../run/run.ts'

type Sent = { run: RunName; report: NewReport; files: ReportFile[] }

/**
 * Sends a report with its files, and shows how far they are. Returns the report and the files that
 * the server did not accept.
 */
export async function sendWithProgress(
  client: ShiplockClient,
  { run, report, files }: Sent,
  output: Output,
): Promise<{ report: ReportResult; rejected: ArtifactResult[] }> {
  const progress = output.progress()
  const bars = new Map(files.map(({ path, source }) => [path, progress.add(path, source.size)]))
  try {
    const body = { ...report, ...(run.attempt !== null && { attempt: run.attempt }), ...expectField(run) }
    const sent = await client.sendReport(run.id, body, files, {
      onProgress: (path, bytes) => bars.get(path)?.to(bytes),
    })
    for (const { path, status, reason } of sent.results) bars.get(path)?.finish(outcome(path, status, reason))
    for (const { path, reason } of sent.report.skipped)
      bars.get(path)?.finish(outcome(path, 'not sent', REASONS[reason]))
    return { report: sent.report, rejected: sent.results.filter(({ status }) => status !== 'uploaded') }
  } finally {
    progress.end()
  }
}

const REASONS: Record<ReportResult['skipped'][number]['reason'], string> = {
  already_uploaded: 'the server has it already',
  too_large: 'it is larger than the plan allows',
  run_quota: 'the run has used up its space for artifacts',
  monthly_quota: 'the organization has used up its space for this month',
}

function outcome(path: string, status: string, reason: string | null): string {
  return `${path}: ${status}${reason === null ? '' : ` (${reason})`}`
}

/** Files that are not on the server because of a limit, for people. */
export function limitWarnings({ skipped }: ReportResult): string[] {
  return skipped
    .filter(({ reason }) => reason !== 'already_uploaded')
    .map(({ path, reason }) => `${path} was not stored: ${REASONS[reason]}`)
}
