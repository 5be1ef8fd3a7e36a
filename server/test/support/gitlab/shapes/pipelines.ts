import { lastAttempt } from '../../hosts/stories/jobs.ts'
import type { Conclusion, Job, Run } from '../../hosts/types.ts'
import { fullName } from '../../hosts/world.ts'
import { type Gitlab, iso } from '../gitlab.ts'
import { userShape } from './accounts.ts'
import { commitShape } from './projects.ts'

const ENDS: Record<Conclusion, string> = {
  success: 'success',
  failure: 'failed',
  cancelled: 'canceled',
  timed_out: 'failed',
  skipped: 'skipped',
  neutral: 'success',
  action_required: 'failed',
}

const SOURCES = {
  push: 'push',
  pull_request: 'merge_request_event',
  merge_group: 'merge_request_event',
  schedule: 'schedule',
  manual: 'web',
  release: 'push',
  workflow: 'pipeline',
} as const

export function pipelineStatus(run: Run): string {
  const { status, conclusion } = lastAttempt(run)
  if (status === 'completed') return ENDS[conclusion as Conclusion]
  return { queued: 'pending', waiting: 'manual', in_progress: 'running' }[status]
}

export function jobStatus({ status, conclusion }: Job): string {
  if (status === null) return 'created'
  if (status === 'completed') return ENDS[conclusion as Conclusion]
  return { queued: 'pending', waiting: 'manual', in_progress: 'running' }[status]
}

export function refOf({ pullRequest, branch }: Run): string {
  return pullRequest === null ? branch.replace(/^refs\/tags\//, '') : `refs/merge-requests/${pullRequest.number}/head`
}

/** All jobs with the retried ones, newest first. */
export function jobsOf(run: Run): Job[] {
  const all = run.attempts.flatMap(({ jobs }) => jobs)
  return [...new Map(all.map((job) => [job.id, job])).values()].sort((one, other) => other.id - one.id)
}

export function isRetried(run: Run, job: Job): boolean {
  return !lastAttempt(run).jobs.includes(job)
}

/** As lists show it. */
export function pipelineEntry({ url, children }: Gitlab, run: Run) {
  return {
    id: run.id,
    iid: run.index,
    project_id: run.repository.id,
    sha: run.sha,
    ref: refOf(run),
    status: pipelineStatus(run),
    source: children.has(run) ? 'parent_pipeline' : SOURCES[run.event],
    name: run.workflow.name,
    created_at: iso(run.created_at),
    updated_at: iso(lastAttempt(run).updated_at),
    web_url: `${url}/${fullName(run.repository)}/-/pipelines/${run.id}`,
  }
}

export function pipelineShape(gitlab: Gitlab, run: Run) {
  const starts = jobsOf(run).flatMap(({ started_at }) => started_at ?? [])
  const started = starts.length === 0 ? null : new Date(Math.min(...starts.map(Number)))
  return {
    ...pipelineEntry(gitlab, run),
    before_sha: '0'.repeat(40),
    tag: run.branch.startsWith('refs/tags/'),
    yaml_errors: null,
    user: userShape(gitlab, run.actor),
    started_at: iso(started),
    finished_at: iso(lastAttempt(run).completed_at),
    committed_at: null,
    duration: null,
    queued_duration: null,
    coverage: null,
  }
}

export function jobShape(gitlab: Gitlab, run: Run, job: Job) {
  const attempt = run.attempts.find(({ number }) => number === job.attempt) ?? lastAttempt(run)
  const commit = run.repository.commits.get(run.sha)
  return {
    id: job.id,
    name: job.name,
    stage: `stage-${job.stage}`,
    status: jobStatus(job),
    ref: refOf(run),
    tag: run.branch.startsWith('refs/tags/'),
    coverage: null,
    allow_failure: false,
    created_at: iso(job.created_at),
    started_at: iso(job.started_at),
    finished_at: iso(job.completed_at),
    erased_at: null,
    duration: null,
    queued_duration: null,
    ...failureOf(run, job),
    user: userShape(gitlab, attempt.actor),
    commit: commit ? commitShape(commit) : null,
    pipeline: pipelineEntry(gitlab, run),
    project: { ci_job_token_scope_enabled: false },
    web_url: `${gitlab.url}/${fullName(run.repository)}/-/jobs/${job.id}`,
    artifacts: [],
    runner: job.started_at === null ? null : { id: 1, description: 'runner-1', active: true, status: 'online' },
  }
}

/** Only failed jobs have a reason. */
export function failureOf(run: Run, { conclusion, deployment }: Job): { failure_reason?: string } {
  if (conclusion === 'timed_out') return { failure_reason: 'job_execution_timeout' }
  if (conclusion !== 'failure') return {}
  const rejected = run.approvals.some((one) => one.deployment === deployment && one.state === 'rejected')
  const gates = [...(deployment?.gates.values() ?? [])]
  return { failure_reason: rejected || gates.includes('rejected') ? 'deployment_rejected' : 'script_failure' }
}
