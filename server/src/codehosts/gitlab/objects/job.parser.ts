import { type Static, Type } from 'typebox'
import type { HostRepository } from '../../host-repository.ts'
import type { HostAnnotation, HostJob } from '../../host-run.ts'
import { dateOrNull, Id, Maybe, readAs, Text, Timestamp, textOrNull } from '../../kit/payload.ts'
import { Account } from './account.parser.ts'
import { isOpen, jobStatus } from './pipeline-words.ts'

/** A job, or a bridge: a job that starts another pipeline. */
export const Job = Type.Object({
  id: Id,
  name: Text,
  status: Text,
  failure_reason: Maybe(Text),
  allow_failure: Maybe(Type.Boolean()),
  created_at: Timestamp,
  started_at: Maybe(Timestamp),
  finished_at: Maybe(Timestamp),
  web_url: Maybe(Text),
  user: Maybe(Account),
  commit: Maybe(Type.Object({ message: Maybe(Text) })),
  pipeline: Maybe(Type.Object({ status: Maybe(Text) })),
  runner: Maybe(Type.Object({ description: Maybe(Text) })),
})
export type Job = Static<typeof Job>

export function parseJob(value: unknown): Job {
  return readAs(Job, value)
}

export function jobOf(job: Job, of: Pick<HostJob, 'repository' | 'run_id' | 'attempt'>): HostJob {
  const status = jobStatus(job)
  return {
    ...of,
    id: String(job.id),
    name: job.name,
    status,
    started_at: dateOrNull(job.started_at),
    completed_at: isOpen(status) ? null : dateOrNull(job.finished_at),
    html_url: textOrNull(job.web_url) ?? pageOf(job, of.repository),
    runner: textOrNull(job.runner?.description),
    // GitLab has one script for each job, without steps.
    failed_steps: [],
  }
}

function pageOf({ id }: Job, { html_url: url }: HostRepository): string | null {
  return url && `${url}/-/jobs/${id}`
}

/** The script itself failed: the log says why. */
const SCRIPT_FAILURE = 'script_failure'

/** Why GitLab itself ended a job, in its own words. Null if the script failed. */
export function parseFailureReason(value: unknown): HostAnnotation | null {
  const { status, failure_reason: reason } = readAs(Job, value)
  if (status !== 'failed' || !reason || reason === SCRIPT_FAILURE) return null
  const message = `The job failed: ${reason.replaceAll('_', ' ')}.`
  return { level: 'error', title: null, message, path: null, line: null }
}
