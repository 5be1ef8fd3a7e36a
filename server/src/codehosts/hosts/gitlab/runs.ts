import { type Static, Type } from 'typebox'
import type { HostReader, ListOptions, ListResult } from '../../code-host.ts'
import type { HostRepository } from '../../host-repository.ts'
import type { HostPullRequestName, HostRun, HostRunStatus, TriggerKind } from '../../host-run.ts'
import { mergePages, NO_ACCESS, type PartPage, parseCursor } from '../../kit/pages.ts'
import { Id, Maybe, parseDate, parseText, readAs, Text, Timestamp } from '../../kit/payload.ts'
import { encodePath } from '../../kit/rest-client.ts'
import { Account, formatProjectPath, type Session, toHostAccount } from './client.ts'
import {
  fetchJobLog,
  isOpen,
  type Job,
  parseFailureReason,
  parseJob,
  parseJobStatus,
  parseStatus,
  readWorkflow,
  toHostJob,
} from './jobs.ts'

type RunReads = Pick<
  HostReader,
  'listRuns' | 'readRun' | 'listJobs' | 'listAnnotations' | 'readJobLog' | 'readWorkflow'
>

export function createRunReads(session: Session): RunReads {
  const { api } = session
  return {
    listRuns: (repository, options) => fetchRuns(session, repository, options),

    async readRun(repository, runId, attempt) {
      const facts = await fetchFacts(session, repository, runId)
      return facts && toHostRun(facts, attempt)
    },

    async listJobs(repository, runId, attempt) {
      const path = pipelinePath(repository, runId)
      const jobs = await api.readAll(`${path}/jobs`, { include_retried: true }, parseJob)
      const bridges = await api.readAll(`${path}/bridges`, {}, parseJob)
      const own = [...filterAttemptJobs(jobs, attempt), ...bridges]
      return own.map((job) => toHostJob(job, { repository, run_id: runId, attempt }))
    },

    async listAnnotations(repository, jobId) {
      const job = await api.read(`${formatProjectPath(repository)}${encodePath`/jobs/${jobId}`}`)
      const reason = job && api.parseItem(job, parseFailureReason)
      return reason ? [reason] : []
    },

    readJobLog: (repository, jobId, bytesMax) => fetchJobLog(api, repository, jobId, bytesMax),

    readWorkflow: readWorkflow(session),
  }
}

/** Each pipeline of the list is read, because the list contains neither its times nor its user. */
const PIPELINES_AT_ONCE = 20

/** GitLab lists child pipelines only where they are asked for. */
const SOURCES = [undefined, 'parent_pipeline']

/** Where a walk through the lists of pipelines goes on, and since when they changed; null: all. */
const Cursor = Type.Object({
  changed_since: Type.Union([Timestamp, Type.Null()]),
  next: Type.Union([Text, Type.Null()]),
})

/** The newest first, or those that changed since a time, the newest change first. */
async function fetchRuns(
  session: Session,
  repository: HostRepository,
  options: ListOptions,
): Promise<ListResult<HostRun>> {
  const { since, changed_since, next } = options
  const start = { changed_since: changed_since?.toISOString() ?? null, next: null }
  const cursor = parseCursor(Cursor, next) ?? start
  const page = await fetchPipelines(session, repository, cursor)
  if (page === null) return NO_ACCESS
  const wanted = page.items.filter(({ created_at }) => since === undefined || new Date(created_at) >= since)
  const own = wanted.filter(({ source }) => !isExternal(source))
  const facts = await Promise.all(own.map(({ id }) => fetchFacts(session, repository, String(id))))
  const items = facts.flatMap((found) => (found && toHostRun(found)) ?? [])
  const isLast = page.next === null || wanted.length < page.items.length
  return {
    items,
    next: isLast ? null : JSON.stringify({ ...cursor, next: page.next }),
    etag: LISTED,
    ...(cursor.changed_since !== null && { has_changes: true }),
  }
}

/** Tells a list, which has no version, from a refusal. */
const LISTED = ''

/** A page of both lists together. Null without access to them. */
async function fetchPipelines(
  { api }: Session,
  repository: HostRepository,
  { changed_since, next }: Static<typeof Cursor>,
): Promise<PartPage<Pipeline> | null> {
  const path = `${formatProjectPath(repository)}/pipelines`
  const order =
    changed_since === null
      ? { order_by: 'id', sort: 'desc' }
      : { order_by: 'updated_at', sort: 'desc', updated_after: changed_since }
  let isDenied = false
  const read = async (part: number, token: string | null): Promise<PartPage<Pipeline>> => {
    const options = token === null ? {} : { next: token }
    const query = { ...order, source: SOURCES[part] }
    const page = await api.readPart({ path, query, options, pageItems: PIPELINES_AT_ONCE }, parsePipeline)
    isDenied ||= page === null
    return page ?? { items: [], next: null }
  }
  const timeOf = ({ created_at, updated_at }: Pipeline) =>
    new Date(changed_since === null ? created_at : (updated_at ?? created_at))
  const page = await mergePages({ parts: [...SOURCES.keys()], read, timeOf }, next)
  return isDenied ? null : page
}

/** Null for a pipeline that does not exist, or that only contains statuses of other services. */
async function fetchFacts(session: Session, repository: HostRepository, runId: string): Promise<PipelineFacts | null> {
  const { api } = session
  const path = pipelinePath(repository, runId)
  const found = await api.read(path)
  const pipeline = found && parsePipeline(found)
  if (!pipeline || isExternal(pipeline.source)) return null
  const jobs = await api.readAll(`${path}/jobs`, { include_retried: true }, parseJob)
  const source = await fetchSource(session, repository, parseMergeRequestNumber(pipeline.ref))
  const { ci_config_path: configPath } = await session.settings(repository)
  return { repository, pipeline, jobs, source, configPath }
}

async function fetchSource(
  { api }: Session,
  repository: HostRepository,
  number: number | null,
): Promise<PipelineFacts['source']> {
  if (number === null) return null
  const found = await api.read(`${formatProjectPath(repository)}${encodePath`/merge_requests/${number}`}`)
  return found && parseSource(found)
}

function pipelinePath(repository: HostRepository, runId: string): string {
  return `${formatProjectPath(repository)}${encodePath`/pipelines/${runId}`}`
}

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

function parsePipeline(value: unknown): Pipeline {
  return readAs(Pipeline, value)
}

const Branches = Type.Object({ source_branch: Text, source_project_id: Maybe(Id) })

/** The branch of a merge request, and the project that has it. */
function parseSource(value: unknown): { branch: string; project_id: string | null } {
  const { source_branch: branch, source_project_id: id } = readAs(Branches, value)
  return { branch, project_id: id ? String(id) : null }
}

/** What a run is made of. */
type PipelineFacts = {
  repository: HostRepository
  pipeline: Pipeline
  /** With retried ones. */
  jobs: readonly Job[]
  /** The source of the merge request that the pipeline is for; null if it is for none. */
  source: ReturnType<typeof parseSource> | null
  configPath: string | null
}

/** Null if there is no such attempt. */
export function toHostRun(facts: PipelineFacts, attempt?: number): HostRun | null {
  const { repository, pipeline, jobs } = facts
  const newest = getNewestAttempt(jobs)
  const number = attempt ?? newest
  if (number > newest || number < 1) return null
  const actor = toHostAccount(pipeline.user)
  const pullRequest = parseMergeRequestNumber(pipeline.ref)
  return {
    repository,
    id: String(pipeline.id),
    number: pipeline.iid ?? null,
    attempt: number,
    workflow: parseWorkflow(facts),
    ...parseRef(facts),
    commit: { sha: pipeline.sha, message: parseText(jobs[0]?.commit?.message) },
    event: pipeline.source ?? 'unknown',
    kind: parseTriggerKind(pipeline.source ?? ''),
    release_name: null,
    actor,
    triggering_actor: (number > 1 ? toHostAccount(filterAttemptStart(jobs, number)[0]?.user) : null) ?? actor,
    pull_requests: pullRequest === null ? [] : [toPullRequestName(repository, pullRequest)],
    html_url: parseText(pipeline.web_url),
    created_at: new Date(pipeline.created_at),
    ...(number === newest ? newestTimes(facts, number) : earlierTimes(facts, number)),
  }
}

type Times = Pick<HostRun, 'status' | 'started_at' | 'completed_at' | 'updated_at'>

function newestTimes({ pipeline, jobs }: PipelineFacts, attempt: number): Times {
  const word = parseStatus(pipeline.status)
  // A pipeline that waits for a manual job has begun.
  const status = pipeline.status === 'manual' && pipeline.started_at ? 'in_progress' : word
  const updatedAt = new Date(pipeline.updated_at ?? pipeline.created_at)
  return {
    status,
    started_at: startedAt(pipeline, jobs, attempt),
    completed_at: isOpen(status) ? null : (parseDate(pipeline.finished_at) ?? updatedAt),
    updated_at: updatedAt,
  }
}

function earlierTimes({ pipeline, jobs }: PipelineFacts, attempt: number): Times {
  const own = filterAttemptJobs(jobs, attempt)
  const end = computeEnd(own) ?? startedAt(pipeline, jobs, attempt + 1)
  return {
    status: computeResult(own),
    started_at: startedAt(pipeline, jobs, attempt),
    completed_at: end,
    updated_at: end,
  }
}

/** A later attempt starts with its first job. */
function startedAt(pipeline: Pipeline, jobs: readonly Job[], attempt: number): Date {
  const first = attempt > 1 ? filterAttemptStart(jobs, attempt)[0]?.created_at : null
  return new Date(first ?? pipeline.started_at ?? pipeline.created_at)
}

/**
 * GitLab does not name the file of a child pipeline, so child pipelines of a project have a history
 * of their own.
 */
function parseWorkflow({ pipeline, configPath }: PipelineFacts): HostRun['workflow'] {
  const name = parseText(pipeline.name)
  if (pipeline.source === 'parent_pipeline') return { id: 'child', name: name ?? 'Child pipeline', path: null }
  return { id: configPath ?? 'pipeline', name: name ?? configPath ?? 'Pipeline', path: configPath }
}

/** A deleted fork has no id, so the branch of a merge request may be in any repository. */
const UNKNOWN_REPOSITORY = 'unknown'

function parseRef({ repository, pipeline, source }: PipelineFacts): Pick<HostRun, 'ref' | 'head_repository_id'> {
  if (parseMergeRequestNumber(pipeline.ref) !== null)
    return {
      ref: source && `refs/heads/${source.branch}`,
      head_repository_id: source?.project_id ?? UNKNOWN_REPOSITORY,
    }
  const name = parseText(pipeline.ref)
  const ref = name === null ? null : name.startsWith('refs/') ? name : `refs/${pipeline.tag ? 'tags' : 'heads'}/${name}`
  return { ref: ref !== null && /^refs\/(?:heads|tags)\//.test(ref) ? ref : null, head_repository_id: repository.id }
}

export function toPullRequestName({ html_url: url }: HostRepository, number: number): HostPullRequestName {
  return { number, url: url && `${url}/-/merge_requests/${number}` }
}

/*
 * GitLab counts no attempts: a retried job is a new job of the same name in the same pipeline. The
 * attempt of a pipeline is the highest number of times that one of its jobs was started.
 */

/** The number of the newest attempt. */
export function getNewestAttempt(jobs: readonly Job[]): number {
  return Math.max(1, ...[...byName(jobs).values()].map(({ length }) => length))
}

/** The jobs as they were in an attempt: those that were not retried until then are taken over. */
export function filterAttemptJobs(jobs: readonly Job[], attempt: number): Job[] {
  return [...byName(jobs).values()].flatMap((tries) => tries[Math.min(attempt, tries.length) - 1] ?? [])
}

/** The jobs with which an attempt began, the oldest first. */
export function filterAttemptStart(jobs: readonly Job[], attempt: number): Job[] {
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
export function computeResult(jobs: readonly Job[]): HostRunStatus {
  const statuses = jobs.filter(({ allow_failure: mayFail }) => !mayFail).map(parseJobStatus)
  if (statuses.some((status) => status === 'failure' || status === 'timed_out')) return 'failure'
  if (statuses.includes('cancelled')) return 'cancelled'
  return 'success'
}

/** When the last of the jobs ended. Null without an end. */
export function computeEnd(jobs: readonly Job[]): Date | null {
  const ends = jobs
    .filter((job) => !isOpen(parseJobStatus(job)))
    .flatMap(({ finished_at: at }) => (at ? Date.parse(at) : []))
  return ends.length === 0 ? null : new Date(Math.max(...ends))
}

/** The sources of pipelines. Merge trains have the source `merge_request_event`, too. */
const KINDS: Readonly<Record<string, TriggerKind>> = {
  push: 'push',
  schedule: 'schedule',
  web: 'manual',
  api: 'manual',
  trigger: 'manual',
  chat: 'manual',
  webide: 'manual',
  merge_request_event: 'pull_request',
  external_pull_request_event: 'pull_request',
  pipeline: 'workflow',
  parent_pipeline: 'workflow',
}

export function parseTriggerKind(source: string): TriggerKind {
  return KINDS[source] ?? 'other'
}

/** Such a pipeline only contains commit statuses that other services reported. */
export function isExternal(source: string | null | undefined): boolean {
  return source === 'external'
}

/** The number of the merge request that a pipeline is for. Its ref is not that of a branch. */
export function parseMergeRequestNumber(ref: string | null | undefined): number | null {
  const [, number] = /^refs\/merge-requests\/([1-9]\d{0,14})\//.exec(ref ?? '') ?? []
  return number === undefined ? null : Number(number)
}
