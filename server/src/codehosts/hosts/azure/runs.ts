import { type Static, Type } from 'typebox'
import type { HostRepository } from '../../host-repository.ts'
import type { HostPullRequestName, HostRun, HostRunStatus } from '../../host-run.ts'
import { Id, Maybe, readAs, Text, textOrNull } from '../../kit/payload.ts'
import { Guid, latest, Time, timeOrNull } from './objects/fields.ts'
import { accountOf, Identity } from './objects/identity.parser.ts'
import { runIdOf } from './objects/run-id.ts'
import { statusOf, triggerKind } from './objects/run-words.ts'

const Build = Type.Object({
  id: Id,
  status: Maybe(Text),
  result: Maybe(Text),
  reason: Maybe(Text),
  queueTime: Maybe(Time),
  startTime: Maybe(Time),
  finishTime: Maybe(Time),
  lastChangedDate: Maybe(Time),
  sourceBranch: Maybe(Text),
  sourceVersion: Maybe(Text),
  definition: Maybe(Type.Object({ id: Id, name: Maybe(Text) })),
  project: Type.Object({ id: Guid }),
  repository: Maybe(Type.Object({ id: Maybe(Text), type: Maybe(Text) })),
  requestedFor: Maybe(Identity),
  requestedBy: Maybe(Identity),
  parameters: Maybe(Text),
  triggerInfo: Maybe(Type.Record(Type.String(), Maybe(Text))),
  _links: Maybe(Type.Object({ web: Maybe(Type.Object({ href: Maybe(Text) })) })),
})
export type Build = Static<typeof Build>

export function parseBuild(value: unknown): Build {
  return readAs(Build, value)
}

/** The type of repositories of Azure Repos. Azure Pipelines also builds those of other hosts. */
export const AZURE_REPOS = 'TfsGit'

export function isOf({ repository }: Build, { id }: HostRepository): boolean {
  return repository?.type === AZURE_REPOS && repository.id?.toLowerCase() === id
}

/** A run in one attempt. The status and the times of earlier attempts are those of their stages. */
export type BuildAttempt = {
  attempt: number
  status: HostRunStatus
  started_at: Date | null
  completed_at: Date | null
  changed_at: Date | null
}

export function runOf(build: Build, { attempt, ...state }: BuildAttempt, repository: HostRepository): HostRun {
  const createdAt = timeOrNull(build.queueTime) ?? timeOrNull(build.startTime) ?? new Date(0)
  const startedAt = state.started_at ?? createdAt
  const actor = accountOf(build.requestedFor) ?? accountOf(build.requestedBy)
  const isOpen = state.status === 'queued' || state.status === 'in_progress'
  return {
    repository,
    id: runIdOf({ project: build.project.id, build: build.id }),
    number: build.id,
    attempt,
    workflow: { id: String(build.definition?.id ?? 0), name: textOrNull(build.definition?.name) ?? '', path: null },
    status: state.status,
    ref: refOf(build),
    head_repository_id: isOfFork(build) ? UNKNOWN_REPOSITORY : repository.id,
    commit: { sha: commitOf(build), message: textOrNull(build.triggerInfo?.['ci.message']) },
    event: build.reason ?? 'none',
    kind: triggerKind(build.reason),
    release_name: null,
    actor,
    // Azure DevOps does not say who repeated a stage.
    triggering_actor: attempt === 1 ? actor : null,
    pull_requests: pullRequestsOf(build, repository),
    html_url: webUrlOf(build),
    created_at: createdAt,
    started_at: startedAt,
    completed_at: isOpen ? null : (state.completed_at ?? startedAt),
    updated_at: latest([state.changed_at, state.completed_at], startedAt),
    azure: {
      orgName: repository.full_name.split('/')[0] as string,
      projectId: build.project.id.toLowerCase(),
      repositoryId: repository.id,
      repositoryType: AZURE_REPOS,
      result: textOrNull(build.result),
    },
  }
}

/** The build as a whole, in its newest attempt. */
export function newestAttempt(build: Build, attempt: number, startedAt: Date | null): BuildAttempt {
  const finishedAt = timeOrNull(build.finishTime)
  return {
    attempt,
    status: statusOf(build.status, build.result),
    started_at: startedAt ?? timeOrNull(build.startTime),
    completed_at: finishedAt,
    changed_at: timeOrNull(build.lastChangedDate),
  }
}

/** The head of a fork's pull request may be in any repository. */
const UNKNOWN_REPOSITORY = 'unknown'

function isOfFork({ triggerInfo }: Build): boolean {
  return triggerInfo?.['pr.isFork']?.toLowerCase() === 'true'
}

/** Builds of pull requests name a ref of their merge. The branch is in their parameters. */
export function refOf(build: Build): string | null {
  const named = pullRequestValue(build, 'sourceBranch') ?? build.sourceBranch
  return named && /^refs\/(?:heads|tags)\//.test(named) ? named : null
}

/** Builds of pull requests are of a merge that is made for them. Their commit is the head. */
export function commitOf(build: Build): string {
  return pullRequestValue(build, 'sourceCommitId') ?? build.triggerInfo?.['pr.sourceSha'] ?? build.sourceVersion ?? ''
}

function pullRequestsOf(build: Build, repository: HostRepository): HostPullRequestName[] {
  const number = Number(pullRequestValue(build, 'pullRequestId') ?? build.triggerInfo?.['pr.number'])
  return Number.isSafeInteger(number) && number > 0 ? [pullRequestName(repository, number)] : []
}

export function pullRequestName(repository: HostRepository, number: number): HostPullRequestName {
  return { number, url: repository.html_url && `${repository.html_url}/pullrequest/${number}` }
}

export function webUrlOf({ _links: links }: Build): string | null {
  return textOrNull(links?.web?.href)
}

/** `parameters` is JSON as text, with `system.pullRequest.…` for builds of pull requests. */
function pullRequestValue({ parameters, reason }: Build, name: string): string | null {
  if (!parameters || triggerKind(reason) !== 'pull_request') return null
  try {
    const value = (JSON.parse(parameters) as { [name: string]: unknown })[`system.pullRequest.${name}`]
    return typeof value === 'string' ? textOrNull(value) : null
  } catch {
    return null
  }
}
