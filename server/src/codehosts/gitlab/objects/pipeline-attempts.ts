import type { HostRunStatus } from '../../host-run.ts'
import type { Job } from './job.parser.ts'
import { isOpen, jobStatus } from './pipeline-words.ts'

/*
 * GitLab counts no attempts: a retried job is a new job of the same name in the same pipeline. The
 * attempt of a pipeline is the highest number of times that one of its jobs was started.
 */

/** The number of the newest attempt. */
export function newestAttempt(jobs: readonly Job[]): number {
  return Math.max(1, ...[...byName(jobs).values()].map(({ length }) => length))
}

/** The jobs as they were in an attempt: those that were not retried until then are taken over. */
export function jobsOfAttempt(jobs: readonly Job[], attempt: number): Job[] {
  return [...byName(jobs).values()].flatMap((tries) => tries[Math.min(attempt, tries.length) - 1] ?? [])
}

/** The jobs with which an attempt began, the oldest first. */
export function startOfAttempt(jobs: readonly Job[], attempt: number): Job[] {
  return [...byName(jobs).values()].flatMap((tries) => tries[attempt - 1] ?? []).sort((one, other) => one.id - other.id)
}

/** The tries of each job, oldest first. */
function byName(jobs: readonly Job[]): Map<string, Job[]> {
  return Map.groupBy(
    [...jobs].sort((one, other) => one.id - other.id),
    ({ name }) => name,
  )
}

/** The result of an earlier attempt, which GitLab does not keep. */
export function resultOf(jobs: readonly Job[]): HostRunStatus {
  const statuses = jobs.filter(({ allow_failure: mayFail }) => !mayFail).map(jobStatus)
  if (statuses.some((status) => status === 'failure' || status === 'timed_out')) return 'failure'
  if (statuses.includes('cancelled')) return 'cancelled'
  return 'success'
}

/** When the last of the jobs ended. Null without an end. */
export function endOf(jobs: readonly Job[]): Date | null {
  const ends = jobs
    .filter((job) => !isOpen(jobStatus(job)))
    .flatMap(({ finished_at: at }) => (at ? Date.parse(at) : []))
  return ends.length === 0 ? null : new Date(Math.max(...ends))
}
