import { type Static, Type } from 'typebox'
import type { HostRepository } from '../../host-repository.ts'
import type { HostAnnotation, HostJob, HostRunStatus } from '../../host-run.ts'
import { Id, Maybe, readAs, Text, textOrNull } from '../../kit/payload.ts'
import { Time, timeOrNull } from './objects/fields.ts'
import { type BuildName, jobIdOf, runIdOf } from './objects/run-id.ts'
import { statusOf } from './objects/run-words.ts'

const Issue = Type.Object({
  type: Maybe(Text),
  message: Maybe(Text),
  data: Maybe(Type.Record(Type.String(), Maybe(Text))),
})

const Record = Type.Object({
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
export type TimelineRecord = Static<typeof Record>

const Timeline = Type.Object({
  records: Maybe(Type.Array(Record)),
  lastChangedOn: Maybe(Time),
})

/** The stages, jobs, tasks and checkpoints of a build. */
export type Timeline = { records: TimelineRecord[]; changed_at: Date | null }

export function parseTimeline(value: unknown): Timeline {
  const { records, lastChangedOn } = readAs(Timeline, value)
  return { records: (records ?? []).sort(byOrder), changed_at: timeOrNull(lastChangedOn) }
}

function byOrder(one: TimelineRecord, other: TimelineRecord): number {
  return (one.order ?? 0) - (other.order ?? 0)
}

export function ofType({ records }: Timeline, type: string): TimelineRecord[] {
  return records.filter((record) => record.type === type)
}

/** The record, and everything below it. */
export function within({ records }: Timeline, root: TimelineRecord): TimelineRecord[] {
  const found = [root]
  const below = Map.groupBy(records, ({ parentId }) => parentId ?? '')
  for (const record of found) found.push(...(below.get(record.id) ?? []))
  return found
}

export function attemptOf({ attempt }: TimelineRecord): number {
  return attempt || 1
}

/** What the record says when a job ran longer than its time limit. The result is `canceled`. */
const TIMED_OUT = /ran longer than the maximum time/

export function statusOfRecord({ state, result, issues }: TimelineRecord): HostRunStatus {
  const status = statusOf(state, result)
  const isOver = status === 'cancelled' || status === 'failure'
  return isOver && (issues ?? []).some(({ message }) => TIMED_OUT.test(message ?? '')) ? 'timed_out' : status
}

type JobPlace = { repository: HostRepository; build: BuildName; attempt: number; url: string | null }

export function jobOf(job: TimelineRecord, timeline: Timeline, place: JobPlace): HostJob {
  const { repository, build, attempt, url } = place
  const tasks = within(timeline, job).filter(({ type }) => type === 'Task')
  const status = statusOfRecord(job)
  return {
    repository,
    run_id: runIdOf(build),
    attempt,
    id: jobIdOf({ ...build, attempt: attemptOf(job), record: job.id }),
    name: textOrNull(job.name) ?? textOrNull(job.identifier) ?? job.id,
    status,
    started_at: timeOrNull(job.startTime),
    completed_at: status === 'queued' || status === 'in_progress' ? null : timeOrNull(job.finishTime),
    html_url: url && `${url}${url.includes('?') ? '&' : '?'}view=logs&j=${job.id}`,
    runner: textOrNull(job.workerName),
    failed_steps: tasks.flatMap((task, index) =>
      statusOfRecord(task) === 'failure' ? { number: index + 1, name: textOrNull(task.name) ?? '' } : [],
    ),
  }
}

const LEVELS: Readonly<{ [type: string]: HostAnnotation['level'] }> = { error: 'error', warning: 'warning' }

/** The errors and warnings of a job and its steps. */
export function annotationsOf(job: TimelineRecord, timeline: Timeline): HostAnnotation[] {
  return within(timeline, job).flatMap(({ name, issues }) =>
    (issues ?? []).map(({ type, message, data }) => ({
      level: LEVELS[type ?? ''] ?? 'notice',
      title: textOrNull(name),
      message: textOrNull(message) ?? '',
      path: textOrNull(data?.sourcepath),
      line: Number(data?.linenumber) || null,
    })),
  )
}
