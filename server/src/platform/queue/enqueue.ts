import type { Db } from '../db/sql.ts'
import type { Job } from './job.ts'

/**
 * Queues a job in the caller's transaction: the change that causes the job and the job are stored
 * together.
 */
export async function enqueue<Payload extends object>(
  db: Db,
  job: Pick<Job<never, Payload>, 'name' | 'attemptsMax' | 'once'>,
  payload: Payload,
): Promise<void> {
  await db`
    select graphile_worker.add_job(
      ${job.name}::text,
      ${db.json(payload as never)}::json,
      max_attempts => ${job.attemptsMax}::int,
      job_key => ${job.once ? `${job.name} ${job.once(payload)}` : null}::text
    )`
}
