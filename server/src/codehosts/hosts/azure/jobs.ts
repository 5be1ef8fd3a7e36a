import { type Static, Type } from 'typebox'
import type { HostReader } from '../../code-host.ts'
import type { HostRepository } from '../../host-repository.ts'
import type { HostAnnotation, HostJob, HostRunStatus } from '../../host-run.ts'
import { Id, Maybe, parseText, readAs, Text } from '../../kit/payload.ts'
import { encodePath } from '../../kit/rest-client.ts'
import { type AzureApi, parseTime, parseValues, Time } from './client.ts'

/** The lines that are read of a log, from its end. */
const LOG_LINES_MAX = 2000

export function createJobReads(api: AzureApi): Pick<HostReader, 'listJobs' | 'listAnnotations' | 'readJobLog'> {
  return {
    async listJobs(repository, runId, attempt) {
      const build = parseRunId(runId)
      const timeline = build && (await fetchTimeline(api, build))
      if (!timeline) return []
      const url = repository.html_url?.replace(/\/_git\/.*$/s, `/_build/results?buildId=${build.build}`) ?? null
      const jobs = await fetchJobs(api, build, timeline, attempt)
      return jobs.map((found) => toHostJob(found.job, found.timeline, { repository, build, attempt, url }))
    },

    async listAnnotations(_, jobId) {
      const found = await fetchJob(api, jobId)
      return found === null ? [] : parseAnnotations(found.job, found.timeline)
    },

    async readJobLog(_, jobId, bytesMax) {
      const name = parseJobId(jobId)
      const found = await fetchJob(api, jobId)
      const log = found?.job.log?.id
      return name === null || log === undefined ? null : fetchJobLog(api, name, log, bytesMax)
    },
  }
}

/** A job in the attempt that its id names. */
async function fetchJob(api: AzureApi, jobId: string): Promise<{ job: TimelineRecord; timeline: Timeline } | null> {
  const name = parseJobId(jobId)
  const timeline = name && (await fetchTimeline(api, name))
  if (!timeline) return null
  const jobs = await fetchJobs(api, name, timeline, name.attempt)
  return jobs.find(({ job }) => job.id.toLowerCase() === name.record && getAttempt(job) === name.attempt) ?? null
}

const Logs = Type.Object({ id: Id, lineCount: Id })

/** The end of a log. Null if it was deleted. */
async function fetchJobLog(
  api: AzureApi,
  { project, build }: JobName,
  log: number,
  bytesMax: number,
): Promise<string | null> {
  const path = encodePath`/${project}/_apis/build/builds/${build}/logs`
  const logs = await api.fetchAll({ path }, (value) => readAs(Logs, value))
  const lines = logs.find(({ id }) => id === log)?.lineCount
  if (lines === undefined) return null
  const startLine = Math.max(0, lines - LOG_LINES_MAX)
  const body = await api.fetch({ path: path + encodePath`/${log}`, query: { startLine } })
  if (body === null) return null
  const text = Buffer.from(typeof body === 'string' ? body : parseValues(body).join('\n'))
  return text.subarray(Math.max(0, text.length - bytesMax)).toString()
}

/** The timeline of a build in its newest attempt, or an earlier one; null if there is none. */
export async function fetchTimeline(
  api: AzureApi,
  { project, build }: BuildName,
  timelineId?: string,
): Promise<Timeline | null> {
  const path = encodePath`/${project}/_apis/build/builds/${build}/timeline`
  const timeline = await api.fetch({ path: timelineId === undefined ? path : path + encodePath`/${timelineId}` })
  return timeline === null ? null : parseTimeline(timeline)
}

/** A stage in one attempt, and the timeline that has it. */
export type StageAttempt = { stage: TimelineRecord; timeline: Timeline }

/** The stages of a run as they were in one attempt: each in its newest attempt up to this one. */
export async function fetchStages(
  api: AzureApi,
  build: BuildName,
  timeline: Timeline,
  attempt: number,
): Promise<StageAttempt[]> {
  const stages = await Promise.all(
    listRecords(timeline, 'Stage').map((stage) => fetchStage(api, build, { stage, timeline }, attempt)),
  )
  return stages.filter((stage) => stage !== null)
}

async function fetchStage(
  api: AzureApi,
  build: BuildName,
  newest: StageAttempt,
  attempt: number,
): Promise<StageAttempt | null> {
  if (getAttempt(newest.stage) <= attempt) return newest
  const earlier = (newest.stage.previousAttempts ?? [])
    .filter((previous) => (previous.attempt || 1) <= attempt && previous.timelineId)
    .sort((one, other) => (other.attempt ?? 1) - (one.attempt ?? 1))[0]
  const timeline = earlier && (await fetchTimeline(api, build, earlier.timelineId as string))
  const stage =
    timeline && listRecords(timeline, 'Stage').find(({ id }) => id === (earlier.recordId ?? newest.stage.id))
  return stage ? { stage, timeline } : null
}

/** The jobs of a run as they were in one attempt. Pipelines without stages have jobs only. */
export async function fetchJobs(
  api: AzureApi,
  build: BuildName,
  timeline: Timeline,
  attempt: number,
): Promise<{ job: TimelineRecord; timeline: Timeline }[]> {
  if (listRecords(timeline, 'Stage').length === 0) return listRecords(timeline, 'Job').map((job) => ({ job, timeline }))
  const stages = await fetchStages(api, build, timeline, attempt)
  return stages.flatMap(({ stage, timeline: its }) =>
    collectRecords(its, stage).flatMap((job) => (job.type === 'Job' ? { job, timeline: its } : [])),
  )
}

/**
 * Ids of builds are unique within an organization only, so the id of a run contains the project.
 */
export type BuildName = { project: string; build: number }

const GUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const RUN_ID = new RegExp(`^(${GUID})_([1-9]\\d{0,9})$`)
const JOB_ID = new RegExp(`^(${GUID}_[1-9]\\d{0,9})_([1-9]\\d{0,5})_(${GUID})$`)

export function formatRunId({ project, build }: BuildName): string {
  return `${project.toLowerCase()}_${build}`
}

/** Null for a text that is no id of a run. */
export function parseRunId(id: string): BuildName | null {
  const [, project, build] = RUN_ID.exec(id) ?? []
  return project === undefined ? null : { project, build: Number(build) }
}

/** Records of a timeline have the same id in every run of a pipeline and in every attempt. */
type JobName = BuildName & { attempt: number; record: string }

export function formatJobId({ attempt, record, ...build }: JobName): string {
  return `${formatRunId(build)}_${attempt}_${record.toLowerCase()}`
}

export function parseJobId(id: string): JobName | null {
  const [, run = '', attempt, record = ''] = JOB_ID.exec(id) ?? []
  const build = parseRunId(run)
  return build && { ...build, attempt: Number(attempt), record }
}

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

const OPEN_STATUSES: Readonly<Record<string, HostRunStatus>> = {
  inProgress: 'in_progress',
  cancelling: 'in_progress',
}

/**
 * The status of a build or of a record in its timeline. A result that we do not know is not a
 * success.
 */
export function parseStatus(status: string | null | undefined, result: string | null | undefined): HostRunStatus {
  if (status === 'completed') return RESULTS[result ?? ''] ?? 'failure'
  return OPEN_STATUSES[status ?? ''] ?? 'queued'
}

const Issue = Type.Object({
  type: Maybe(Text),
  message: Maybe(Text),
  data: Maybe(Type.Record(Type.String(), Maybe(Text))),
})

const TimelineEntry = Type.Object({
  id: Text,
  parentId: Maybe(Text),
  type: Maybe(Text),
  name: Maybe(Text),
  identifier: Maybe(Text),
  state: Maybe(Text),
  result: Maybe(Text),
  startTime: Maybe(Time),
  finishTime: Maybe(Time),
  order: Maybe(Type.Integer()),
  attempt: Maybe(Id),
  workerName: Maybe(Text),
  log: Maybe(Type.Object({ id: Id })),
  issues: Maybe(Type.Array(Issue)),
  previousAttempts: Maybe(
    Type.Array(Type.Object({ attempt: Maybe(Id), timelineId: Maybe(Text), recordId: Maybe(Text) })),
  ),
})
export type TimelineRecord = Static<typeof TimelineEntry>

const TimelineAnswer = Type.Object({ records: Maybe(Type.Array(TimelineEntry)), lastChangedOn: Maybe(Time) })

/** The stages, jobs, tasks and checkpoints of a build. */
export type Timeline = { records: TimelineRecord[]; changed_at: Date | null }

function parseTimeline(value: unknown): Timeline {
  const { records, lastChangedOn } = readAs(TimelineAnswer, value)
  const sorted = (records ?? []).sort((one, other) => (one.order ?? 0) - (other.order ?? 0))
  return { records: sorted, changed_at: parseTime(lastChangedOn) }
}

export function listRecords({ records }: Timeline, type: string): TimelineRecord[] {
  return records.filter((record) => record.type === type)
}

/** The record, and everything below it. */
export function collectRecords({ records }: Timeline, root: TimelineRecord): TimelineRecord[] {
  const found = [root]
  const below = Map.groupBy(records, ({ parentId }) => parentId ?? '')
  for (const record of found) found.push(...(below.get(record.id) ?? []))
  return found
}

export function getAttempt({ attempt }: TimelineRecord): number {
  return attempt || 1
}

/** What the record says when a job ran longer than its time limit. The result is `canceled`. */
const TIMED_OUT = /ran longer than the maximum time/

export function parseRecordStatus({ state, result, issues }: TimelineRecord): HostRunStatus {
  const status = parseStatus(state, result)
  const isOver = status === 'cancelled' || status === 'failure'
  return isOver && (issues ?? []).some(({ message }) => TIMED_OUT.test(message ?? '')) ? 'timed_out' : status
}

type JobPlace = { repository: HostRepository; build: BuildName; attempt: number; url: string | null }

function toHostJob(job: TimelineRecord, timeline: Timeline, place: JobPlace): HostJob {
  const { repository, build, attempt, url } = place
  const tasks = collectRecords(timeline, job).filter(({ type }) => type === 'Task')
  const status = parseRecordStatus(job)
  return {
    repository,
    run_id: formatRunId(build),
    attempt,
    id: formatJobId({ ...build, attempt: getAttempt(job), record: job.id }),
    name: parseText(job.name) ?? parseText(job.identifier) ?? job.id,
    status,
    started_at: parseTime(job.startTime),
    completed_at: status === 'queued' || status === 'in_progress' ? null : parseTime(job.finishTime),
    html_url: url && `${url}${url.includes('?') ? '&' : '?'}view=logs&j=${job.id}`,
    runner: parseText(job.workerName),
    failed_steps: tasks.flatMap((task, index) =>
      parseRecordStatus(task) === 'failure' ? { number: index + 1, name: parseText(task.name) ?? '' } : [],
    ),
  }
}

const LEVELS: Readonly<{ [type: string]: HostAnnotation['level'] }> = { error: 'error', warning: 'warning' }

/** The errors and warnings of a job and its steps. */
function parseAnnotations(job: TimelineRecord, timeline: Timeline): HostAnnotation[] {
  return collectRecords(timeline, job).flatMap(({ name, issues }) =>
    (issues ?? []).map(({ type, message, data }) => ({
      level: LEVELS[type ?? ''] ?? 'notice',
      title: parseText(name),
      message: parseText(message) ?? '',
      path: parseText(data?.sourcepath),
      line: Number(data?.linenumber) || null,
    })),
  )
}
