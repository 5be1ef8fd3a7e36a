import type { HostRunStatus, TriggerKind } from '../../host-run.ts'

/** How GitHub's conclusions appear in the seven statuses (providers.md §3). */
const CONCLUSIONS: Readonly<Record<string, HostRunStatus>> = {
  success: 'success',
  neutral: 'success',
  failure: 'failure',
  startup_failure: 'failure',
  cancelled: 'cancelled',
  action_required: 'cancelled',
  timed_out: 'timed_out',
  skipped: 'skipped',
  stale: 'skipped',
}

/**
 * The status of a run, job, step or check. Before the start, GitHub says `queued`, `requested`,
 * `waiting` or `pending`. A conclusion that we do not know is not a success.
 */
export function runStatus(status: string | null | undefined, conclusion: string | null | undefined): HostRunStatus {
  if (status === 'completed') return CONCLUSIONS[conclusion ?? ''] ?? 'failure'
  return status === 'in_progress' ? 'in_progress' : 'queued'
}

/** The states of a commit status, which other services report. */
const COMMIT_STATES: Readonly<Record<string, HostRunStatus>> = {
  success: 'success',
  pending: 'queued',
  failure: 'failure',
  error: 'failure',
}

export function commitStatus(state: string): HostRunStatus {
  return COMMIT_STATES[state] ?? 'failure'
}

/** A merge queue runs its checks for pull requests before they land. */
const KINDS: Readonly<Record<string, TriggerKind>> = {
  push: 'push',
  schedule: 'schedule',
  release: 'release',
  workflow_dispatch: 'manual',
  repository_dispatch: 'manual',
  workflow_run: 'workflow',
  workflow_call: 'workflow',
  merge_group: 'pull_request',
}

export function triggerKind(event: string): TriggerKind {
  return KINDS[event] ?? (event.startsWith('pull_request') ? 'pull_request' : 'other')
}

/**
 * The full name of a run's ref. GitHub gives the short name only. That of a release is a tag. A
 * push or a manual start of a tag cannot be told from that of a branch with the same name, so it
 * is treated as a branch.
 */
export function runRef(event: string, name: string | null | undefined): string | null {
  if (!name) return null
  if (name.startsWith('refs/')) return name
  return event === 'release' ? `refs/tags/${name}` : `refs/heads/${name}`
}
