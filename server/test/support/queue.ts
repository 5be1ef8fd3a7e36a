import assert from 'node:assert/strict'
import { hostParts } from '../../src/host-event-handlers.ts'
import { jobs } from '../../src/jobs.ts'
import type { Sql } from '../../src/platform/db/sql.ts'
import type { TestApi } from './api.ts'
import type { Json } from './json.ts'

/** A job in the queue. */
export type StoredJob = {
  id: number
  name: string
  key: string | null
  payload: Json
  class: string
  state: 'ready' | 'scheduled' | 'running' | 'failed'
  attempts: number
  attempts_max: number
  interruptions: number
  worker_id: string | null
  last_error: string | null
  request_id: string | null
  /** Until it may start; negative if it may. */
  seconds_left: number
  /** From its last change until it may start. */
  delay_seconds: number
}

/** The jobs in the queue, or those of one name, in the order in which they were queued. */
export async function listJobs(sql: Sql, name: string | null = null): Promise<StoredJob[]> {
  const jobs = await sql<StoredJob[]>`
    select id, name, key, payload, class, state, attempts, attempts_max, interruptions, worker_id, last_error,
      request_id, extract(epoch from run_at - now())::float as seconds_left,
      extract(epoch from run_at - updated_at)::float as delay_seconds
    from jobs
    where name = coalesce(${name}, name)
    order by id`
  return [...jobs]
}

export async function clearJobs(sql: Sql): Promise<void> {
  await sql`delete from jobs`
}

/** Delayed jobs are due at once, also those that wait after a failure or an interruption. */
export async function skipPauses(sql: Sql, name: string | null = null): Promise<void> {
  await sql`
    update jobs
    set run_at = now(), state = 'ready'
    where state = 'scheduled'
      and name = coalesce(${name}, name)`
}

/** Every waiting job is in the hands of a worker that has died. */
export async function loseJobs(sql: Sql, interruptions: number | null = null): Promise<void> {
  await sql`
    update jobs
    set attempts = attempts + 1, state = 'running', worker_id = 'worker-that-died',
      interruptions = coalesce(${interruptions}, interruptions)
    where state in ('ready', 'scheduled')`
}

/** Every waiting job has used up its tries. */
export async function failJobs(sql: Sql): Promise<void> {
  await sql`
    update jobs
    set attempts = attempts_max, state = 'failed', last_error = 'no luck'
    where state in ('ready', 'scheduled')`
}

/**
 * Works through what is queued, and what that queues, with the program's own jobs, one after the
 * other. Jobs called `lost` are taken off the queue and not run. A job that is queued for later
 * runs once, because it may queue itself again until the clock has advanced.
 */
export async function drainQueue(api: TestApi, lost?: string): Promise<void> {
  const delayed = new Set<string>()
  for (let queued = await takeJobs(api); queued.length > 0; queued = await takeJobs(api)) {
    for (const { name, payload, is_delayed } of queued.filter((job) => job.name !== lost)) {
      const named = JSON.stringify([name, payload])
      if (is_delayed && delayed.has(named)) continue
      if (is_delayed) delayed.add(named)
      const job = jobs.find((known) => known.name === name)
      assert.ok(job, `nothing works on ${name}`)
      await job.run({ ...api.services, ...hostParts }, payload as never)
    }
  }
}

type TakenJob = { name: string; payload: object; is_delayed: boolean }

/** Takes all jobs off the queue, the oldest first. */
async function takeJobs({ services: { sql } }: TestApi): Promise<TakenJob[]> {
  return sql<TakenJob[]>`
    with taken as (
      delete from jobs
      where state <> 'running'
      returning id, name, payload, run_at > now() as is_delayed
    )
    select name, payload, is_delayed
    from taken
    order by id`
}
