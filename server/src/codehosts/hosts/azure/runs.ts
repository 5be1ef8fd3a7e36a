import { type Static, Type } from 'typebox'
import type { HostReader, ListOptions, ListResult } from '../../code-host.ts'
import type { HostRepository } from '../../host-repository.ts'
import type { HostPullRequestName, HostRun, HostRunStatus, TriggerKind } from '../../host-run.ts'
import { NO_ACCESS, parseCursor } from '../../kit/pages.ts'
import { Id, Maybe, parseText, readAs, Text } from '../../kit/payload.ts'
import { encodePath } from '../../kit/rest-client.ts'
import { type AzureApi, Guid, Identity, LISTED, parseAccount, parseTime, selectLatest, Time } from './client.ts'
import {
  type BuildName,
  createJobReads,
  fetchStages,
  fetchTimeline,
  formatRunId,
  getAttempt,
  listRecords,
  parseRecordStatus,
  parseRunId,
  parseStatus,
  type Timeline,
} from './jobs.ts'

type RunReads = Pick<HostReader, 'listRuns' | 'readRun' | 'listJobs' | 'listAnnotations' | 'readJobLog'>

/** Small, because the attempts of each run of a page are read too. */
const PAGE_RUNS = 50

export function createRunReads(api: AzureApi): RunReads {
  return {
    listRuns: (repository, options) => fetchRuns(api, repository, options),

    async readRun(repository, runId, attempt) {
      const name = parseRunId(runId)
      const build = name && (await fetchBuild(api, name))
      return build && isBuildFrom(build, repository) ? fetchRun(api, build, repository, attempt) : null
    },

    ...createJobReads(api),
  }
}

/**
 * Builds that ended since a time, and then those that were queued since. A stage that runs again in
 * an old build ends the build again.
 */
const CHANGES = ['finishTimeDescending', 'queueTimeDescending'] as const

/** Where a walk through the builds goes on. `changed_since` is null for a list of all. */
const Cursor = Type.Object({
  changed_since: Type.Union([Time, Type.Null()]),
  order: Type.Integer({ minimum: 0, maximum: CHANGES.length - 1 }),
  token: Type.Union([Text, Type.Null()]),
})
type Cursor = Static<typeof Cursor>

async function fetchRuns(
  api: AzureApi,
  repository: HostRepository,
  { since, changed_since, next }: ListOptions,
): Promise<ListResult<HostRun>> {
  const project = await api.fetchProject(repository)
  const start: Cursor = { changed_since: changed_since?.toISOString() ?? null, order: 0, token: null }
  const cursor = parseCursor(Cursor, next) ?? start
  const isOfChanges = cursor.changed_since !== null
  const filter = {
    $top: PAGE_RUNS,
    minTime: cursor.changed_since ?? since?.toISOString(),
    ...(isOfChanges && { queryOrder: CHANGES[cursor.order] }),
  }
  const page = project && (await fetchBuildPage(api, { repository, project, filter }, cursor.token))
  if (!page) return NO_ACCESS
  const items = await Promise.all(page.builds.map((build) => fetchRun(api, build, repository)))
  const isEnd = page.next === null && (!isOfChanges || cursor.order + 1 === CHANGES.length)
  const following = { ...cursor, order: cursor.order + Number(page.next === null), token: page.next }
  return {
    items,
    next: isEnd ? null : JSON.stringify(following),
    etag: LISTED,
    ...(isOfChanges && { has_changes: true }),
  }
}

type BuildList = {
  repository: HostRepository
  project: string
  filter: { $top: number; minTime?: string | undefined; queryOrder?: (typeof CHANGES)[number] | undefined }
}

/** Builds of a repository, newest first. Null if they may not be read. */
export async function fetchBuildPage(
  api: AzureApi,
  { repository, project, filter }: BuildList,
  next?: string | null,
): Promise<{ builds: Build[]; next: string | null } | null> {
  const query = {
    repositoryId: repository.id,
    repositoryType: AZURE_REPOS,
    queryOrder: 'queueTimeDescending',
    ...filter,
  }
  const page = await api.fetchPage({ path: encodePath`/${project}/_apis/build/builds`, query }, next)
  if (page === null) return null
  const builds = api.parseItems(page.values, parseBuild).filter((build) => isBuildFrom(build, repository))
  return { builds, next: page.next }
}

async function fetchRun(api: AzureApi, build: Build, repository: HostRepository, attempt?: number): Promise<HostRun> {
  const timeline = await fetchTimeline(api, { project: build.project.id.toLowerCase(), build: build.id })
  return toHostRun(build, await fetchAttempt(api, build, timeline, attempt), repository)
}

/** Null if the build does not exist. */
export async function fetchBuild(api: AzureApi, { project, build }: BuildName): Promise<Build | null> {
  const found = await api.fetch({ path: encodePath`/${project}/_apis/build/builds/${build}` })
  return found === null ? null : parseBuild(found)
}

/** The builds of a repository with these ids. */
export async function fetchBuilds(
  api: AzureApi,
  repository: HostRepository,
  project: string,
  ids: readonly number[],
): Promise<Build[]> {
  if (ids.length === 0) return []
  const request = { path: encodePath`/${project}/_apis/build/builds`, query: { buildIds: ids.join(',') } }
  return (await api.fetchAll(request, parseBuild)).filter((build) => isBuildFrom(build, repository))
}

/**
 * A repeated stage starts a new attempt of its run: the attempt of the run is the newest of its
 * stages.
 */
function newestAttemptNumber(timeline: Timeline | null): number {
  return Math.max(1, ...(timeline === null ? [] : listRecords(timeline, 'Stage').map(getAttempt)))
}

/** The state of a build as it was in one attempt. */
async function fetchAttempt(
  api: AzureApi,
  build: Build,
  timeline: Timeline | null,
  attempt = newestAttemptNumber(timeline),
): Promise<BuildAttempt> {
  const newest = newestAttemptNumber(timeline)
  if (timeline === null || newest === 1) return withTimeout(toNewestAttempt(build, 1, null), timeline)
  const name = { project: build.project.id.toLowerCase(), build: build.id }
  const stages = (await fetchStages(api, name, timeline, attempt)).map(({ stage }) => stage)
  const own = stages.filter((stage) => attempt === 1 || getAttempt(stage) === attempt)
  const starts = own.flatMap(({ startTime }) => parseTime(startTime) ?? [])
  const startedAt = starts.length === 0 ? null : new Date(Math.min(...starts.map(Number)))
  if (attempt >= newest) return withTimeout(toNewestAttempt(build, newest, startedAt), timeline)
  const ends = stages.flatMap(({ finishTime }) => parseTime(finishTime) ?? [])
  const completedAt = ends.length === 0 ? startedAt : new Date(Math.max(...ends.map(Number)))
  const statuses = stages.map(parseRecordStatus)
  return {
    attempt,
    status: WORST.find((status) => statuses.includes(status)) ?? 'skipped',
    started_at: startedAt,
    completed_at: completedAt,
    changed_at: completedAt,
  }
}

/** A job that ran for too long cancels its run, which does not say why. */
function withTimeout(attempt: BuildAttempt, timeline: Timeline | null): BuildAttempt {
  const isOver = attempt.status === 'cancelled' || attempt.status === 'failure'
  const jobs = timeline === null ? [] : listRecords(timeline, 'Job').map(parseRecordStatus)
  const isTimeout = isOver && jobs.includes('timed_out') && !jobs.includes('failure')
  const changed = timeline?.changed_at ?? null
  const changedAt = attempt.changed_at && changed && changed > attempt.changed_at ? changed : attempt.changed_at
  return { ...attempt, changed_at: changedAt ?? changed, ...(isTimeout && { status: 'timed_out' }) }
}

const WORST: readonly HostRunStatus[] = ['failure', 'timed_out', 'cancelled', 'in_progress', 'queued', 'success']

export const Build = Type.Object({
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

export function isBuildFrom({ repository }: Build, { id }: HostRepository): boolean {
  return repository?.type === AZURE_REPOS && repository.id?.toLowerCase() === id
}

/** A run in one attempt. The status and the times of earlier attempts are those of their stages. */
type BuildAttempt = {
  attempt: number
  status: HostRunStatus
  started_at: Date | null
  completed_at: Date | null
  changed_at: Date | null
}

export function toHostRun(build: Build, { attempt, ...state }: BuildAttempt, repository: HostRepository): HostRun {
  const createdAt = parseTime(build.queueTime) ?? parseTime(build.startTime) ?? new Date(0)
  const startedAt = state.started_at ?? createdAt
  const actor = parseAccount(build.requestedFor) ?? parseAccount(build.requestedBy)
  const isOpen = state.status === 'queued' || state.status === 'in_progress'
  const pullRequest = Number(pullRequestValue(build, 'pullRequestId') ?? build.triggerInfo?.['pr.number'])
  return {
    repository,
    id: formatRunId({ project: build.project.id, build: build.id }),
    number: build.id,
    attempt,
    workflow: { id: String(build.definition?.id ?? 0), name: parseText(build.definition?.name) ?? '', path: null },
    status: state.status,
    ref: parseRef(build),
    head_repository_id: build.triggerInfo?.['pr.isFork']?.toLowerCase() === 'true' ? UNKNOWN_REPOSITORY : repository.id,
    commit: { sha: parseCommitSha(build), message: parseText(build.triggerInfo?.['ci.message']) },
    event: build.reason ?? 'none',
    kind: parseTriggerKind(build.reason),
    release_name: null,
    actor,
    // Azure DevOps does not say who repeated a stage.
    triggering_actor: attempt === 1 ? actor : null,
    pull_requests:
      Number.isSafeInteger(pullRequest) && pullRequest > 0 ? [toPullRequestName(repository, pullRequest)] : [],
    html_url: parseWebUrl(build),
    created_at: createdAt,
    started_at: startedAt,
    completed_at: isOpen ? null : (state.completed_at ?? startedAt),
    updated_at: selectLatest([state.changed_at, state.completed_at], startedAt),
    azure: {
      orgName: repository.full_name.split('/')[0] as string,
      projectId: build.project.id.toLowerCase(),
      repositoryId: repository.id,
      repositoryType: AZURE_REPOS,
      result: parseText(build.result),
    },
  }
}

/** The build as a whole, in its newest attempt. */
export function toNewestAttempt(build: Build, attempt: number, startedAt: Date | null): BuildAttempt {
  const finishedAt = parseTime(build.finishTime)
  return {
    attempt,
    status: parseStatus(build.status, build.result),
    started_at: startedAt ?? parseTime(build.startTime),
    completed_at: finishedAt,
    changed_at: parseTime(build.lastChangedDate),
  }
}

/** The head of a fork's pull request may be in any repository. */
const UNKNOWN_REPOSITORY = 'unknown'

/** Builds of pull requests name a ref of their merge. The branch is in their parameters. */
export function parseRef(build: Build): string | null {
  const named = pullRequestValue(build, 'sourceBranch') ?? build.sourceBranch
  return named && /^refs\/(?:heads|tags)\//.test(named) ? named : null
}

/** Builds of pull requests are of a merge that is made for them. Their commit is the head. */
export function parseCommitSha(build: Build): string {
  return pullRequestValue(build, 'sourceCommitId') ?? build.triggerInfo?.['pr.sourceSha'] ?? build.sourceVersion ?? ''
}

export function toPullRequestName(repository: HostRepository, number: number): HostPullRequestName {
  return { number, url: repository.html_url && `${repository.html_url}/pullrequest/${number}` }
}

export function parseWebUrl({ _links: links }: Build): string | null {
  return parseText(links?.web?.href)
}

/** `parameters` is JSON as text, with `system.pullRequest.…` for builds of pull requests. */
function pullRequestValue({ parameters, reason }: Build, name: string): string | null {
  if (!parameters || parseTriggerKind(reason) !== 'pull_request') return null
  try {
    const value = (JSON.parse(parameters) as { [name: string]: unknown })[`system.pullRequest.${name}`]
    return typeof value === 'string' ? parseText(value) : null
  } catch {
    return null
  }
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
function parseTriggerKind(reason: string | null | undefined): TriggerKind {
  return KINDS[reason ?? ''] ?? 'other'
}
