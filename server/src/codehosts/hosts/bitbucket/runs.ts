import { type Static, Type } from 'typebox'
import type { HostRepository } from '../../host-repository.ts'
import type { HostJob, HostPullRequestName, HostRun } from '../../host-run.ts'
import { dateOrNull, Id, Maybe, readAs, Text, Timestamp, textOrNull } from '../../kit/payload.ts'
import { bareUuid } from './client/uuid.ts'
import { State, statusOf, triggerKind, wordOf } from './objects/pipeline-words.ts'
import { Account, accountOf } from './objects/repository.parser.ts'

/** What a pipeline runs on: a branch or tag, a pull request, or a commit. */
const Target = Type.Object({
  type: Maybe(Text),
  ref_type: Maybe(Text),
  ref_name: Maybe(Text),
  /** The branch of a pull request. */
  source: Maybe(Text),
  commit: Type.Object({ hash: Text, message: Maybe(Text) }),
  selector: Maybe(Type.Object({ type: Maybe(Text), pattern: Maybe(Text) })),
  pullrequest: Maybe(Type.Object({ id: Type.Union([Id, Text]) })),
})
type Target = Static<typeof Target>

const Pipeline = Type.Object({
  uuid: Text,
  build_number: Maybe(Id),
  run_number: Maybe(Id),
  creator: Maybe(Account),
  target: Target,
  trigger: Maybe(Type.Object({ name: Maybe(Text), type: Maybe(Text) })),
  state: State,
  created_on: Timestamp,
  run_creation_date: Maybe(Timestamp),
  completed_on: Maybe(Timestamp),
})

/** The file of Bitbucket Pipelines: every repository has at most this one. */
const WORKFLOW_PATH = 'bitbucket-pipelines.yml'

/**
 * A pipeline as a run, and each start of it as an attempt. A pipeline has no time of its last
 * change: while it is open, that of its start stands for it, and its status orders its versions.
 */
export function parsePipeline(value: unknown, repository: HostRepository): HostRun {
  const pipeline = readAs(Pipeline, value)
  const { target, build_number: number } = pipeline
  const status = statusOf(pipeline.state)
  const isOpen = status === 'queued' || status === 'in_progress'
  const startedAt = dateOrNull(pipeline.run_creation_date) ?? new Date(pipeline.created_on)
  const completedAt = isOpen ? null : (dateOrNull(pipeline.completed_on) ?? startedAt)
  const pullRequests = pullRequestsOf(target, repository)
  const event = wordOf(pipeline.trigger)
  const actor = accountOf(pipeline.creator)
  return {
    repository,
    id: bareUuid(pipeline.uuid),
    number: number ?? null,
    attempt: pipeline.run_number || 1,
    workflow: workflowOf(target),
    status,
    ref: refOf(target),
    // Pipelines of a fork run in the fork.
    head_repository_id: repository.id,
    commit: { sha: target.commit.hash, message: textOrNull(target.commit.message) },
    event: event ?? 'unknown',
    kind: triggerKind(event, isPullRequest(target)),
    release_name: null,
    actor,
    triggering_actor: actor,
    pull_requests: pullRequests,
    html_url: pipelineUrl(repository, number),
    created_at: new Date(pipeline.created_on),
    started_at: startedAt,
    completed_at: completedAt,
    updated_at: completedAt ?? startedAt,
  }
}

function pipelineUrl({ html_url }: HostRepository, number: number | null | undefined): string | null {
  return html_url === null || !number ? null : `${html_url}/pipelines/results/${number}`
}

function isPullRequest({ type, pullrequest, selector }: Target): boolean {
  return type === 'pipeline_pullrequest_target' || Boolean(pullrequest) || selector?.type === 'pull-requests'
}

function pullRequestsOf({ pullrequest }: Target, repository: HostRepository): HostPullRequestName[] {
  const number = Number(pullrequest?.id ?? 0)
  return Number.isSafeInteger(number) && number > 0 ? [pullRequestName(repository, number)] : []
}

export function pullRequestName(repository: HostRepository, number: number): HostPullRequestName {
  return { number, url: repository.html_url && `${repository.html_url}/pull-requests/${number}` }
}

/**
 * The section of the file that runs, in the words of the file: `default`, `branches/main`,
 * `tags/v*`, `pull-requests/**`, `custom: deploy`.
 */
function workflowOf(target: Target): HostRun['workflow'] {
  const type = textOrNull(target.selector?.type)?.toLowerCase() ?? (isPullRequest(target) ? 'pull-requests' : 'default')
  const pattern = textOrNull(target.selector?.pattern)
  const name = pattern === null || type === 'default' ? type : `${type}${type === 'custom' ? ': ' : '/'}${pattern}`
  return { id: name, name, path: WORKFLOW_PATH }
}

function refOf({ ref_type: type, ref_name, source }: Target): string | null {
  const name = textOrNull(ref_name) ?? textOrNull(source)
  if (name === null) return null
  return `refs/${type?.toLowerCase().includes('tag') ? 'tags' : 'heads'}/${name}`
}

const Step = Type.Object({
  uuid: Text,
  name: Maybe(Text),
  run_number: Maybe(Id),
  state: State,
  started_on: Maybe(Timestamp),
  completed_on: Maybe(Timestamp),
})

/** The run, and the place of the step in it, which names steps without a name. */
export type StepPlace = { repository: HostRepository; run: Pick<HostRun, 'id' | 'number'>; position: number }

export function parseStep(value: unknown, { repository, run, position }: StepPlace): HostJob {
  const step = readAs(Step, value)
  const url = pipelineUrl(repository, run.number)
  return {
    repository,
    run_id: run.id,
    attempt: step.run_number || 1,
    id: jobId(run.id, bareUuid(step.uuid)),
    name: textOrNull(step.name) ?? `Step ${position}`,
    status: statusOf(step.state),
    started_at: dateOrNull(step.started_on),
    completed_at: dateOrNull(step.completed_on),
    html_url: url && `${url}/steps/${encodeURIComponent(step.uuid)}`,
    runner: null,
    failed_steps: [],
  }
}

/** Steps are read by the ids of both, so a job has both in its id. */
export function jobId(runId: string, stepId: string): string {
  return `${runId}_${stepId}`
}

export function idsOfJob(id: string): { run: string; step: string } | null {
  const [run, step, ...others] = id.split('_')
  return run && step && others.length === 0 ? { run, step } : null
}
