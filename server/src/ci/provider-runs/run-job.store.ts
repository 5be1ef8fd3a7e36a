import { getStatusOrder, type HostJob } from '../../codehosts/host-run.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { ProviderRunKey } from '../runs/provider-run.ts'

/** More than any code host runs in one attempt. */
const JOBS_MAX = 1000
const NAME_MAX = 1000

/** Stores jobs of a run, unless a later state of them is stored. Safe to repeat, in any order. */
export async function upsertJobs(db: Db, { org_id, run_id }: ProviderRunKey, jobs: readonly HostJob[]): Promise<void> {
  if (jobs.length === 0) return
  const rows = jobs
    .slice(0, JOBS_MAX)
    .map(({ attempt, id, name, status, started_at, completed_at, html_url: url }) => ({
      org_id,
      run_id,
      attempt,
      id,
      name: name.slice(0, NAME_MAX),
      status,
      state: getStatusOrder(status),
      started_at,
      completed_at,
      url,
    }))
  await db`
    insert into provider_run_jobs ${db(rows)}
    on conflict (org_id, run_id, attempt, id) do update
    set name = excluded.name, status = excluded.status, state = excluded.state, started_at = excluded.started_at,
      completed_at = excluded.completed_at, url = excluded.url
    where provider_run_jobs.state <= excluded.state`
}

/** The jobs of attempts of runs that failed or timed out. */
export async function listFailedJobs(
  db: Db,
  orgId: string,
  runIds: readonly string[],
): Promise<{ run_id: string; attempt: number; id: string }[]> {
  return db`
    select run_id, attempt, id
    from provider_run_jobs
    where org_id = ${orgId}
      and run_id = any(${[...runIds]}::text[])
      and status in ('failure', 'timed_out')
    order by run_id, attempt, id
    limit ${10 * JOBS_MAX}`
}

/** The jobs of an attempt (null: the newest) as JSON texts, in the order in which they started. */
export async function listRunJobs(
  db: Db,
  { org_id, run_id }: ProviderRunKey,
  attempt: number | null,
): Promise<string[]> {
  const rows = await db<{ json: string }[]>`
    select (
      select row_to_json(item)::text
      from (
        select job.id, job.attempt, job.name, job.status, rfc3339(job.started_at) as started_at,
          rfc3339(job.completed_at) as completed_at,
          case when job.completed_at is not null then
            greatest(0, floor(extract(epoch from job.completed_at - job.started_at)))::integer
          end as duration_seconds,
          job.url as html_url
      ) item
    ) as json
    from provider_run_jobs job
    where job.org_id = ${org_id}
      and job.run_id = ${run_id}
      and job.attempt = coalesce(${attempt}::int, (
        select max(attempt)
        from provider_run_jobs
        where org_id = ${org_id}
          and run_id = ${run_id}
      ))
    order by job.started_at nulls last, job.name, job.id
    limit ${JOBS_MAX}`
  return rows.map(({ json }) => json)
}
