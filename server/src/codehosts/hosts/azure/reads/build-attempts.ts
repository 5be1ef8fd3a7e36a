import type { HostRunStatus } from '../../../host-run.ts'
import { restPath } from '../../../kit/rest-client.ts'
import type { AzureApi } from '../client.ts'
import { type Build, type BuildAttempt, newestAttempt } from '../runs.ts'
import { timeOrNull } from '../objects/fields.ts'
import type { BuildName } from '../objects/run-id.ts'
import {
  attemptOf,
  ofType,
  parseTimeline,
  statusOfRecord,
  type Timeline,
  type TimelineRecord,
  within,
} from '../jobs.ts'

/** A stage in one attempt, and the timeline that has it. */
export type StageAttempt = { stage: TimelineRecord; timeline: Timeline }

/** The timeline of a build in its newest attempt, or an earlier one; null if there is none. */
export async function readTimeline(
  api: AzureApi,
  { project, build }: BuildName,
  timelineId?: string,
): Promise<Timeline | null> {
  const path = restPath`/${project}/_apis/build/builds/${build}/timeline`
  const timeline = await api.read({ path: timelineId === undefined ? path : path + restPath`/${timelineId}` })
  return timeline === null ? null : parseTimeline(timeline)
}

/**
 * A repeated stage starts a new attempt of its run: the attempt of the run is the newest of its
 * stages.
 */
export function newestAttemptOf(timeline: Timeline | null): number {
  return Math.max(1, ...(timeline === null ? [] : ofType(timeline, 'Stage').map(attemptOf)))
}

/** The state of a build as it was in one attempt. */
export async function readAttempt(
  api: AzureApi,
  build: Build,
  timeline: Timeline | null,
  attempt = newestAttemptOf(timeline),
): Promise<BuildAttempt> {
  const newest = newestAttemptOf(timeline)
  if (timeline === null || newest === 1) return withTimeout(newestAttempt(build, 1, null), timeline)
  const name = { project: build.project.id.toLowerCase(), build: build.id }
  const stages = (await stagesAt(api, name, timeline, attempt)).map(({ stage }) => stage)
  const startedAt = earliest(stages.filter((stage) => attempt === 1 || attemptOf(stage) === attempt))
  if (attempt >= newest) return withTimeout(newestAttempt(build, newest, startedAt), timeline)
  const times = stages.flatMap(({ finishTime }) => timeOrNull(finishTime) ?? [])
  const completedAt = times.length === 0 ? startedAt : new Date(Math.max(...times.map(Number)))
  return {
    attempt,
    status: worst(stages.map(statusOfRecord)),
    started_at: startedAt,
    completed_at: completedAt,
    changed_at: completedAt,
  }
}

/** The stages of a run as they were in one attempt: each in its newest attempt up to this one. */
export async function stagesAt(
  api: AzureApi,
  build: BuildName,
  timeline: Timeline,
  attempt: number,
): Promise<StageAttempt[]> {
  const stages = await Promise.all(
    ofType(timeline, 'Stage').map((stage) => stageAt(api, build, { stage, timeline }, attempt)),
  )
  return stages.filter((stage) => stage !== null)
}

async function stageAt(
  api: AzureApi,
  build: BuildName,
  newest: StageAttempt,
  attempt: number,
): Promise<StageAttempt | null> {
  if (attemptOf(newest.stage) <= attempt) return newest
  const earlier = (newest.stage.previousAttempts ?? [])
    .filter((previous) => (previous.attempt || 1) <= attempt && previous.timelineId)
    .sort((one, other) => (other.attempt ?? 1) - (one.attempt ?? 1))[0]
  const timeline = earlier && (await readTimeline(api, build, earlier.timelineId as string))
  const stage = timeline && ofType(timeline, 'Stage').find(({ id }) => id === (earlier.recordId ?? newest.stage.id))
  return stage ? { stage, timeline } : null
}

/** The jobs of a run as they were in one attempt. Pipelines without stages have jobs only. */
export async function jobsAt(
  api: AzureApi,
  build: BuildName,
  timeline: Timeline,
  attempt: number,
): Promise<{ job: TimelineRecord; timeline: Timeline }[]> {
  if (ofType(timeline, 'Stage').length === 0) return ofType(timeline, 'Job').map((job) => ({ job, timeline }))
  const stages = await stagesAt(api, build, timeline, attempt)
  return stages.flatMap(({ stage, timeline: its }) =>
    within(its, stage).flatMap((job) => (job.type === 'Job' ? { job, timeline: its } : [])),
  )
}

/** A job that ran for too long cancels its run, which does not say why. */
function withTimeout(attempt: BuildAttempt, timeline: Timeline | null): BuildAttempt {
  const isOver = attempt.status === 'cancelled' || attempt.status === 'failure'
  const jobs = timeline === null ? [] : ofType(timeline, 'Job').map(statusOfRecord)
  const isTimeout = isOver && jobs.includes('timed_out') && !jobs.includes('failure')
  const changed = timeline?.changed_at ?? null
  const changedAt = attempt.changed_at && changed && changed > attempt.changed_at ? changed : attempt.changed_at
  return { ...attempt, changed_at: changedAt ?? changed, ...(isTimeout && { status: 'timed_out' }) }
}

const WORST: readonly HostRunStatus[] = ['failure', 'timed_out', 'cancelled', 'in_progress', 'queued', 'success']

function worst(statuses: HostRunStatus[]): HostRunStatus {
  return WORST.find((status) => statuses.includes(status)) ?? 'skipped'
}

function earliest(stages: TimelineRecord[]): Date | null {
  const times = stages.flatMap(({ startTime }) => timeOrNull(startTime) ?? [])
  return times.length === 0 ? null : new Date(Math.min(...times.map(Number)))
}
