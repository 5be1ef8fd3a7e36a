import type { Sql } from '../db/sql.ts'
import { insertJobs, type NewJobKind } from './job.store.ts'

/** Makes known which jobs the clock starts, before it does. */
export async function insertSchedules(sql: Sql, names: readonly string[]): Promise<void> {
  await sql`
    insert into job_schedules (name)
    select unnest(${names as string[]}::text[])
    on conflict (name) do nothing`
}

type ScheduledKind = Pick<NewJobKind, 'name' | 'class' | 'attempts_max'>

/** Queues a job that the clock starts, unless another worker has queued it for the same time. */
export async function insertScheduledJob(sql: Sql, job: ScheduledKind, at: Date): Promise<void> {
  const kind = { ...job, priority: 0, request_id: null, traceparent: null }
  await sql`
    with started as (
      insert into job_schedules (name, last_started_at)
      values (${job.name}, ${at})
      on conflict (name) do update
      set last_started_at = excluded.last_started_at
      where job_schedules.last_started_at is null
        or job_schedules.last_started_at < excluded.last_started_at
      returning name
    )
    ${insertJobs(sql, kind, sql`select '{}'::jsonb as payload, null::text as key from started`)}`
}
