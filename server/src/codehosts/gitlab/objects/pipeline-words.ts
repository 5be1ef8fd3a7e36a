import type { HostRunStatus, TriggerKind } from '../../host-run.ts'

/** How GitLab's statuses of pipelines and jobs appear in the seven statuses (providers.md §3). */
const STATUSES: Readonly<Record<string, HostRunStatus>> = {
  created: 'queued',
  waiting_for_resource: 'queued',
  waiting_for_callback: 'queued',
  preparing: 'queued',
  pending: 'queued',
  scheduled: 'queued',
  manual: 'queued',
  running: 'in_progress',
  canceling: 'in_progress',
  success: 'success',
  failed: 'failure',
  canceled: 'cancelled',
  skipped: 'skipped',
}

/** A status that we do not know is not a success. */
export function statusOf(status: string): HostRunStatus {
  return STATUSES[status] ?? 'failure'
}

export function isOpen(status: HostRunStatus): boolean {
  return status === 'queued' || status === 'in_progress'
}

const TIMEOUTS = [
  'job_execution_timeout',
  'stuck_or_timeout_failure',
  'stuck_pending_timeout',
  'job_execution_server_timeout',
]

type JobWords = { status: string; failure_reason?: string | null; pipeline?: { status?: string | null } | null }

/**
 * The status of a job. A manual job that nobody started is skipped once its pipeline has ended.
 */
export function jobStatus({ status, failure_reason: reason, pipeline }: JobWords): HostRunStatus {
  const word = statusOf(status)
  if (status === 'failed' && TIMEOUTS.includes(reason ?? '')) return 'timed_out'
  const hasEnded = pipeline?.status ? !isOpen(statusOf(pipeline.status)) : false
  return status === 'manual' && hasEnded ? 'skipped' : word
}

/** The sources of pipelines. Merge trains have the source `merge_request_event`, too. */
const KINDS: Readonly<Record<string, TriggerKind>> = {
  push: 'push',
  schedule: 'schedule',
  web: 'manual',
  api: 'manual',
  trigger: 'manual',
  chat: 'manual',
  webide: 'manual',
  merge_request_event: 'pull_request',
  external_pull_request_event: 'pull_request',
  pipeline: 'workflow',
  parent_pipeline: 'workflow',
}

export function triggerKind(source: string): TriggerKind {
  return KINDS[source] ?? 'other'
}

/** Such a pipeline only contains commit statuses that other services reported. */
export function isExternal(source: string | null | undefined): boolean {
  return source === 'external'
}

/** The number of the merge request that a pipeline is for. Its ref is not that of a branch. */
export function mergeRequestOf(ref: string | null | undefined): number | null {
  const [, number] = /^refs\/merge-requests\/([1-9]\d{0,14})\//.exec(ref ?? '') ?? []
  return number === undefined ? null : Number(number)
}
