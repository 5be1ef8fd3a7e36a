import { buildStatusAt } from '../ci/runs/attempt-deadline.store.ts'
import type { RunStatus } from '../ci/runs/run-status.ts'
import type { Db, Tx } from '../platform/db/sql.ts'
import type { TrendDays } from './trend-days.ts'
import { buildCountedUntil, type CountedDays } from './trend-progress.store.ts'

/** The runs of one day with one status. `date` is `YYYY-MM-DD` in UTC. */
export type RunDay = { date: string; status: RunStatus; runs: number }

/** `repository` is `owner/name`. */
type Selection = TrendDays & { repository: string | null; now: Date }

/**
 * Counts the runs of each day by status. Days that the job has counted come from `run_days`; the
 * last days, whose runs still change, are counted now.
 */
export async function listRunDays(db: Db, orgId: string, { from, to, repository, now }: Selection): Promise<RunDay[]> {
  // Stored names start with the host.
  const ofRepository =
    repository === null ? db`` : db`and substr(run.repository, strpos(run.repository, '/') + 1) = ${repository}`
  const until = buildCountedUntil(db, orgId, 'runs')
  return db<RunDay[]>`
    select to_char(day, 'YYYY-MM-DD') as date, status, sum(runs)::int as runs
    from (
      select run.day, run.status, run.runs
      from run_days run
      where run.org_id = ${orgId}
        and run.day between ${from}::date and ${to}::date
        and run.day < ${until}
        ${ofRepository}
      union all
      select run.created_at::date, ${buildStatusAt(db, 'run', now)}, 1
      from ci_runs run
      where run.org_id = ${orgId}
        and run.created_at >= greatest(${from}::timestamptz, ${until})
        and run.created_at <= ${now}
        and run.created_at < ${to}::timestamptz + interval '1 day'
        ${ofRepository}
    ) run
    group by day, status
    order by day`
}

/** Counts the runs of these days again. */
export async function countRunDays(tx: Tx, { org_id: orgId, from, until, now }: CountedDays): Promise<void> {
  const since = from ?? new Date(0)
  await tx`
    delete from run_days
    where org_id = ${orgId}
      and day >= ${since}::date
      and day < ${until}::date`
  await tx`
    insert into run_days (org_id, day, repository, status, runs)
    select org_id, created_at::date, repository, ${buildStatusAt(tx, 'run', now)}, count(*)
    from ci_runs run
    where org_id = ${orgId}
      and created_at >= ${since}
      and created_at < ${until}
    group by 1, 2, 3, 4`
}
