import { type Static, Type } from 'typebox'
import type { HostRepository } from '../../host-repository.ts'
import type { HostPullRequestName, HostRun } from '../../host-run.ts'
import { dateOrNull, Id, Maybe, readAs, Text, Timestamp, textOrNull } from '../../kit/payload.ts'
import { Account, accountOf } from './account.parser.ts'
import type { Job } from './job.parser.ts'
import { endOf, jobsOfAttempt, newestAttempt, resultOf, startOfAttempt } from './pipeline-attempts.ts'
import { isOpen, mergeRequestOf, statusOf, triggerKind } from './pipeline-words.ts'

const Pipeline = Type.Object({
  id: Id,
  iid: Maybe(Id),
  name: Maybe(Text),
  sha: Text,
  ref: Maybe(Text),
  tag: Maybe(Type.Boolean()),
  status: Text,
  source: Maybe(Text),
  user: Maybe(Account),
  web_url: Maybe(Text),
  created_at: Timestamp,
  updated_at: Maybe(Timestamp),
  started_at: Maybe(Timestamp),
  finished_at: Maybe(Timestamp),
})
export type Pipeline = Static<typeof Pipeline>

export function parsePipeline(value: unknown): Pipeline {
  return readAs(Pipeline, value)
}

const Branches = Type.Object({ source_branch: Text, source_project_id: Maybe(Id) })

/** The branch of a merge request, and the project that has it. */
export function parseSource(value: unknown): { branch: string; project_id: string | null } {
  const { source_branch: branch, source_project_id: id } = readAs(Branches, value)
  return { branch, project_id: id ? String(id) : null }
}

/** What a run is made of. */
export type PipelineFacts = {
  repository: HostRepository
  pipeline: Pipeline
  /** With retried ones. */
  jobs: readonly Job[]
  /** The source of the merge request that the pipeline is for; null if it is for none. */
  source: ReturnType<typeof parseSource> | null
  configPath: string | null
}

/** Null if there is no such attempt. */
export function runOf(facts: PipelineFacts, attempt?: number): HostRun | null {
  const { repository, pipeline, jobs } = facts
  const newest = newestAttempt(jobs)
  const number = attempt ?? newest
  if (number > newest || number < 1) return null
  const actor = accountOf(pipeline.user)
  return {
    repository,
    id: String(pipeline.id),
    number: pipeline.iid ?? null,
    attempt: number,
    workflow: workflowOf(facts),
    ...refOf(facts),
    commit: { sha: pipeline.sha, message: textOrNull(jobs[0]?.commit?.message) },
    event: pipeline.source ?? 'unknown',
    kind: triggerKind(pipeline.source ?? ''),
    release_name: null,
    actor,
    triggering_actor: (number > 1 ? accountOf(startOfAttempt(jobs, number)[0]?.user) : null) ?? actor,
    pull_requests: pullRequestsOf(pipeline, repository),
    html_url: textOrNull(pipeline.web_url),
    created_at: new Date(pipeline.created_at),
    ...(number === newest ? newestTimes(facts, number) : earlierTimes(facts, number)),
  }
}

type Times = Pick<HostRun, 'status' | 'started_at' | 'completed_at' | 'updated_at'>

function newestTimes({ pipeline, jobs }: PipelineFacts, attempt: number): Times {
  const word = statusOf(pipeline.status)
  // A pipeline that waits for a manual job has begun.
  const status = pipeline.status === 'manual' && pipeline.started_at ? 'in_progress' : word
  const updatedAt = new Date(pipeline.updated_at ?? pipeline.created_at)
  return {
    status,
    started_at: startedAt(pipeline, jobs, attempt),
    completed_at: isOpen(status) ? null : (dateOrNull(pipeline.finished_at) ?? updatedAt),
    updated_at: updatedAt,
  }
}

function earlierTimes({ pipeline, jobs }: PipelineFacts, attempt: number): Times {
  const own = jobsOfAttempt(jobs, attempt)
  const end = endOf(own) ?? startedAt(pipeline, jobs, attempt + 1)
  return {
    status: resultOf(own),
    started_at: startedAt(pipeline, jobs, attempt),
    completed_at: end,
    updated_at: end,
  }
}

/** A later attempt starts with its first job. */
function startedAt(pipeline: Pipeline, jobs: readonly Job[], attempt: number): Date {
  const first = attempt > 1 ? startOfAttempt(jobs, attempt)[0]?.created_at : null
  return new Date(first ?? pipeline.started_at ?? pipeline.created_at)
}

/**
 * GitLab does not name the file of a child pipeline, so child pipelines of a project have a history
 * of their own.
 */
function workflowOf({ pipeline, configPath }: PipelineFacts): HostRun['workflow'] {
  const name = textOrNull(pipeline.name)
  if (pipeline.source === 'parent_pipeline') return { id: 'child', name: name ?? 'Child pipeline', path: null }
  return { id: configPath ?? 'pipeline', name: name ?? configPath ?? 'Pipeline', path: configPath }
}

/** A deleted fork has no id, so the branch of a merge request may be in any repository. */
const UNKNOWN_REPOSITORY = 'unknown'

function refOf({ repository, pipeline, source }: PipelineFacts): Pick<HostRun, 'ref' | 'head_repository_id'> {
  if (mergeRequestOf(pipeline.ref) !== null)
    return {
      ref: source && `refs/heads/${source.branch}`,
      head_repository_id: source?.project_id ?? UNKNOWN_REPOSITORY,
    }
  const name = textOrNull(pipeline.ref)
  const ref = name === null ? null : name.startsWith('refs/') ? name : `refs/${pipeline.tag ? 'tags' : 'heads'}/${name}`
  return { ref: ref !== null && /^refs\/(?:heads|tags)\//.test(ref) ? ref : null, head_repository_id: repository.id }
}

function pullRequestsOf({ ref }: Pipeline, repository: HostRepository): HostPullRequestName[] {
  const number = mergeRequestOf(ref)
  return number === null ? [] : [mergeRequestName(repository, number)]
}

export function mergeRequestName({ html_url: url }: HostRepository, number: number): HostPullRequestName {
  return { number, url: url && `${url}/-/merge_requests/${number}` }
}
