import assert from 'node:assert/strict'
import { hostParts } from '../../src/host-event-handlers.ts'
import { jobs } from '../../src/jobs.ts'
import type { TestApi } from './api.ts'

type Queued = { task_identifier: string; payload: object; is_delayed: boolean }

/**
 * Works through what is queued, and what that queues, with the program's own jobs, one after the
 * other. Jobs called `lost` are taken off the queue and not run. A job that is queued for later
 * runs once, because it may queue itself again until the clock has advanced.
 */
export async function drainQueue(api: TestApi, lost?: string): Promise<void> {
  const delayed = new Set<string>()
  for (let queued = await takeJobs(api); queued.length > 0; queued = await takeJobs(api)) {
    for (const { task_identifier, payload, is_delayed } of queued.filter((job) => job.task_identifier !== lost)) {
      const name = JSON.stringify([task_identifier, payload])
      if (is_delayed && delayed.has(name)) continue
      if (is_delayed) delayed.add(name)
      const job = jobs.find(({ name }) => name === task_identifier)
      assert.ok(job, `nothing works on ${task_identifier}`)
      await job.run({ ...api.services, ...hostParts }, payload as never)
    }
  }
}

/** Takes all jobs off the queue, the oldest first. */
async function takeJobs({ services: { sql } }: TestApi): Promise<Queued[]> {
  const waiting = await sql<{ id: number; task_identifier: string; is_delayed: boolean }[]>`
    select id, task_identifier, run_at > now() as is_delayed
    from graphile_worker.jobs
    order by id`
  const taken = await sql<{ id: number; payload: object }[]>`
    select id, payload
    from graphile_worker.complete_jobs(${waiting.map(({ id }) => id)}::bigint[])`
  const payloads = new Map(taken.map(({ id, payload }) => [id, payload]))
  return waiting.map(({ id, ...job }) => ({ ...job, payload: payloads.get(id) as object }))
}
