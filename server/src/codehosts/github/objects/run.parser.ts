import { type Static, Type } from 'typebox'
import type { HostRepository } from '../../host-repository.ts'
import type { HostAnnotation, HostJob, HostPullRequestName, HostRun } from '../../host-run.ts'
import { dateOrNull, Id, Maybe, readAs, Text, Timestamp, textOrNull } from '../../kit/payload.ts'
import { Account, accountOf } from './repository.parser.ts'
import { runRef, runStatus, triggerKind } from './run-words.ts'

const PullRequestName = Type.Object({
  number: Id,
  base: Maybe(Type.Object({ repo: Maybe(Type.Object({ id: Id })) })),
})

export const WorkflowRun = Type.Object({
  id: Id,
  name: Maybe(Text),
  display_title: Maybe(Text),
  path: Maybe(Text),
  workflow_id: Id,
  run_number: Maybe(Id),
  run_attempt: Maybe(Id),
  status: Maybe(Text),
  conclusion: Maybe(Text),
  event: Text,
  head_branch: Maybe(Text),
  head_sha: Text,
  head_repository: Maybe(Type.Object({ id: Id })),
  head_commit: Maybe(Type.Object({ message: Maybe(Text) })),
  actor: Maybe(Account),
  triggering_actor: Maybe(Account),
  pull_requests: Maybe(Type.Array(PullRequestName)),
  html_url: Maybe(Text),
  created_at: Timestamp,
  run_started_at: Maybe(Timestamp),
  updated_at: Timestamp,
})

/** The workflow of a run. Only webhooks contain it. */
export const Workflow = Type.Object({ name: Maybe(Text), path: Maybe(Text) })

type RunObject = Static<typeof WorkflowRun>

export function runOf(run: RunObject, repository: HostRepository, workflow?: Static<typeof Workflow> | null): HostRun {
  const status = runStatus(run.status, run.conclusion)
  const updatedAt = new Date(run.updated_at)
  const actor = accountOf(run.actor)
  return {
    repository,
    id: String(run.id),
    number: run.run_number ?? null,
    attempt: run.run_attempt || 1,
    workflow: workflowOf(run, workflow),
    status,
    ref: runRef(run.event, run.head_branch),
    head_repository_id: headRepositoryId(run, repository),
    commit: { sha: run.head_sha, message: textOrNull(run.head_commit?.message) },
    event: run.event,
    kind: triggerKind(run.event),
    release_name: run.event === 'release' ? textOrNull(run.display_title) : null,
    actor,
    triggering_actor: accountOf(run.triggering_actor) ?? actor,
    pull_requests: pullRequestsOf(run, repository),
    html_url: textOrNull(run.html_url),
    created_at: new Date(run.created_at),
    started_at: new Date(run.run_started_at ?? run.created_at),
    completed_at: status === 'queued' || status === 'in_progress' ? null : updatedAt,
    updated_at: updatedAt,
  }
}

/** A deleted fork has no id, so the head of a pull request may be in any repository. */
const UNKNOWN_REPOSITORY = 'unknown'

/** Older servers do not name the repository of the head. */
function headRepositoryId({ head_repository, event }: RunObject, repository: HostRepository): string {
  if (head_repository) return String(head_repository.id)
  return triggerKind(event) === 'pull_request' ? UNKNOWN_REPOSITORY : repository.id
}

/** A path can end in the ref of the file: `.github/workflows/ci.yml@refs/heads/main`. */
function workflowOf(run: RunObject, workflow: Static<typeof Workflow> | null | undefined): HostRun['workflow'] {
  const path = textOrNull((run.path ?? workflow?.path)?.split('@')[0])
  const name = textOrNull(workflow?.name) ?? textOrNull(run.name)
  return { id: String(run.workflow_id), name: name ?? path ?? String(run.workflow_id), path }
}

/** GitHub also lists pull requests of the same commit in forks. */
function pullRequestsOf(run: RunObject, repository: HostRepository): HostPullRequestName[] {
  const own = (run.pull_requests ?? []).filter(({ base }) => String(base?.repo?.id ?? repository.id) === repository.id)
  return own.map(({ number }) => pullRequestName(repository, number))
}

export function pullRequestName(repository: HostRepository, number: number): HostPullRequestName {
  return { number, url: repository.html_url && `${repository.html_url}/pull/${number}` }
}

export function parseRun(value: unknown, repository: HostRepository): HostRun {
  return runOf(readAs(WorkflowRun, value), repository)
}

export const WorkflowJob = Type.Object({
  id: Id,
  run_id: Id,
  run_attempt: Maybe(Id),
  name: Text,
  status: Maybe(Text),
  conclusion: Maybe(Text),
  started_at: Maybe(Timestamp),
  completed_at: Maybe(Timestamp),
  html_url: Maybe(Text),
  runner_name: Maybe(Text),
  steps: Maybe(Type.Array(Type.Object({ number: Id, name: Text, status: Maybe(Text), conclusion: Maybe(Text) }))),
})

export function jobOf(job: Static<typeof WorkflowJob>, repository: HostRepository): HostJob {
  const status = runStatus(job.status, job.conclusion)
  const failed = (job.steps ?? []).filter((step) => runStatus(step.status, step.conclusion) === 'failure')
  return {
    repository,
    run_id: String(job.run_id),
    attempt: job.run_attempt || 1,
    id: String(job.id),
    name: job.name,
    status,
    // GitHub fills it with the creation of the job until the job starts.
    started_at: status === 'queued' ? null : dateOrNull(job.started_at),
    completed_at: job.status === 'completed' ? dateOrNull(job.completed_at) : null,
    html_url: textOrNull(job.html_url),
    runner: textOrNull(job.runner_name),
    failed_steps: failed.map(({ number, name }) => ({ number, name })),
  }
}

export function parseJob(value: unknown, repository: HostRepository): HostJob {
  return jobOf(readAs(WorkflowJob, value), repository)
}

const Annotation = Type.Object({
  annotation_level: Maybe(Text),
  title: Maybe(Text),
  message: Maybe(Text),
  path: Maybe(Text),
  start_line: Maybe(Id),
})

const LEVELS: Readonly<Record<string, HostAnnotation['level']>> = { failure: 'error', warning: 'warning' }

export function parseAnnotation(value: unknown): HostAnnotation {
  const annotation = readAs(Annotation, value)
  return {
    level: LEVELS[annotation.annotation_level ?? ''] ?? 'notice',
    title: textOrNull(annotation.title),
    message: textOrNull(annotation.message) ?? '',
    path: textOrNull(annotation.path),
    line: annotation.start_line ?? null,
  }
}
