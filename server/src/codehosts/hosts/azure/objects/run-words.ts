import type { HostRunStatus, TriggerKind } from '../../../host-run.ts'

/** The results of builds, and of stages, jobs and tasks in a timeline. */
const RESULTS: Readonly<Record<string, HostRunStatus>> = {
  succeeded: 'success',
  // A step failed that may fail (`continueOnError`).
  partiallySucceeded: 'success',
  succeededWithIssues: 'success',
  failed: 'failure',
  canceled: 'cancelled',
  skipped: 'skipped',
  // The agent was lost.
  abandoned: 'failure',
}

const OPEN: Readonly<Record<string, HostRunStatus>> = {
  inProgress: 'in_progress',
  cancelling: 'in_progress',
}

/**
 * The status of a build or of a record in its timeline. A result that we do not know is not a
 * success.
 */
export function statusOf(status: string | null | undefined, result: string | null | undefined): HostRunStatus {
  if (status === 'completed') return RESULTS[result ?? ''] ?? 'failure'
  return OPEN[status ?? ''] ?? 'queued'
}

/** How the states of a status on a commit or pull request appear. */
const CHECK_STATES: Readonly<Record<string, HostRunStatus>> = {
  succeeded: 'success',
  pending: 'queued',
  notSet: 'queued',
  failed: 'failure',
  error: 'failure',
  notApplicable: 'skipped',
}

export function checkStatus(state: string | null | undefined): HostRunStatus {
  return CHECK_STATES[state ?? ''] ?? 'queued'
}

const KINDS: Readonly<Record<string, TriggerKind>> = {
  individualCI: 'push',
  batchedCI: 'push',
  schedule: 'schedule',
  scheduleForced: 'schedule',
  manual: 'manual',
  userCreated: 'manual',
  pullRequest: 'pull_request',
  validateShelveset: 'pull_request',
  buildCompletion: 'workflow',
  resourceTrigger: 'workflow',
  triggered: 'workflow',
}

/** Why a build was started, from its `reason`. */
export function triggerKind(reason: string | null | undefined): TriggerKind {
  return KINDS[reason ?? ''] ?? 'other'
}
