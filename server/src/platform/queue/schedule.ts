import { MINUTE_MS } from '../clock.ts'
import type { Sql } from '../db/sql.ts'
import { insertScheduledJob, insertSchedules } from './job.store.ts'
import type { ScheduledJob } from './job.ts'

/** What the five fields of crontab(5) count, with their bounds. */
const FIELDS = [
  { read: (at: Date) => at.getUTCMinutes(), min: 0, max: 59 },
  { read: (at: Date) => at.getUTCHours(), min: 0, max: 23 },
  { read: (at: Date) => at.getUTCDate(), min: 1, max: 31 },
  { read: (at: Date) => at.getUTCMonth() + 1, min: 1, max: 12 },
  { read: (at: Date) => at.getUTCDay(), min: 0, max: 6 },
] as const

/** Whether a schedule includes a minute. */
type Schedule = (minute: Date) => boolean

/** Parses crontab(5) notation whose fields are numbers or `*`. Throws for everything else. */
export function parseSchedule(text: string): Schedule {
  const fields = text.split(' ')
  const isValid =
    fields.length === FIELDS.length &&
    FIELDS.every(({ min, max }, index) => {
      const field = fields[index] as string
      return field === '*' || (/^\d{1,2}$/.test(field) && Number(field) >= min && Number(field) <= max)
    })
  // With a day of the month and one of the week, cron means either of them.
  if (!isValid || (fields[2] !== '*' && fields[4] !== '*')) throw new Error(`The schedule "${text}" is not supported`)
  return (minute) => FIELDS.every(({ read }, index) => fields[index] === '*' || Number(fields[index]) === read(minute))
}

/** The last minute of a schedule after one time and until another; null if there is none. */
export function computeLastMinute(schedule: Schedule, after: Date, until: Date): Date | null {
  const last = Math.floor(until.getTime() / MINUTE_MS) * MINUTE_MS
  for (let time = last; time > after.getTime(); time -= MINUTE_MS) {
    const minute = new Date(time)
    if (schedule(minute)) return minute
  }
  return null
}

/** How often a job may fail that the clock has started. */
const ATTEMPTS_MAX = 25

/**
 * Queues the jobs that start with the worker. Returns what queues the scheduled jobs whose time has
 * come since the call before, each once in the whole installation. What was due before `since` is
 * left out.
 */
export async function openSchedule(
  sql: Sql,
  scheduled: readonly ScheduledJob<never>[],
  since: Date,
): Promise<(now: Date) => Promise<void>> {
  const jobs = scheduled.map((job) => ({ ...job, schedule: parseSchedule(job.schedule) }))
  await insertSchedules(
    sql,
    jobs.map(({ name }) => name),
  )
  const queue = async ({ name, class: jobClass = 'interactive', waitsFor }: (typeof jobs)[number], at: Date) => {
    // Long work of the system has a slot of its own, so that it takes none of the organizations.
    const own = jobClass === 'bulk' ? name : null
    await insertScheduledJob(sql, { name, class: jobClass, attempts_max: ATTEMPTS_MAX, waitsFor: waitsFor ?? own }, at)
  }
  for (const job of jobs) if (job.startsWithWorker) await queue(job, since)
  let doneUntil = since
  return async (now) => {
    for (const job of jobs) {
      const at = computeLastMinute(job.schedule, doneUntil, now)
      if (at !== null) await queue(job, at)
    }
    doneUntil = now
  }
}
