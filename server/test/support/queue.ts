import assert from 'node:assert/strict'
import { Logger, runOnce } from 'graphile-worker'
import { jobs } from '../../src/jobs.ts'
import type { TestApi } from './api.ts'

const QUIET = new Logger(() => () => {})

/** Works through what is queued, and what that queues, with the program's own jobs. Fails when a job does. */
export async function drainQueue({ services, database }: TestApi): Promise<void> {
  const taskList = Object.fromEntries(
    jobs.map((job) => [job.name, (payload: unknown) => job.run(services, payload as never)]),
  )
  await runOnce({ connectionString: database.url, taskList, logger: QUIET })
  const left = await services.sql`select task_identifier, last_error from graphile_worker.jobs`
  assert.deepEqual([...left], [])
}
