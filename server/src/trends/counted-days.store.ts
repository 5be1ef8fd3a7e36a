import { buildStatusAt } from '../ci/runs/run-attempt.store.ts'
import type { RunStatus } from '../ci/runs/run-status.ts'
import { defineExpiringRows, type Expiring } from '../platform/db/expiring-rows.ts'
import { isSpread } from '../platform/db/spread.ts'
import type { Db, Tx } from '../platform/db/sql.ts'
import { toSeverityRank } from '../security/vocabulary/severity.ts'
import type { TrendDays } from './trend-days.ts'

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

/** The open issues at the end of a day, or now for today. `date` is `YYYY-MM-DD` in UTC. */
export type IssueDay = {
  date: string
  critical: number
  high: number
  medium: number
  low: number
  info: number
  median_age_seconds: number | null
  counted_at: Date
}

/** Reads the counted days, and before them the last one that was counted earlier. */
export async function listIssueDays(db: Db, orgId: string, { from, to }: TrendDays): Promise<IssueDay[]> {
  return db<IssueDay[]>`
    select to_char(day, 'YYYY-MM-DD') as date, critical, high, medium, low, info, median_age_seconds, counted_at
    from issue_days
    where org_id = ${orgId}
      and day <= ${to}::date
      and day >= coalesce(
        (select max(day) from issue_days where org_id = ${orgId} and day <= ${from}::date), ${from}::date
      )
    order by day`
}

/** Counts the open issues of an organization, as those of today. */
export async function countIssueDay(db: Db, orgId: string, now: Date): Promise<void> {
  const open = (severity: Parameters<typeof toSeverityRank>[0]) =>
    db`count(*) filter (where severity = ${toSeverityRank(severity)})`
  await db`
    insert into issue_days (org_id, day, critical, high, medium, low, info, median_age_seconds, counted_at)
    select ${orgId}, ${now}::date, ${open('critical')}, ${open('high')}, ${open('medium')}, ${open('low')},
      ${open('info')},
      greatest(0, floor(extract(epoch from
        ${now}::timestamptz - percentile_disc(0.5) within group (order by created_at)
      ))),
      ${now}
    from security_issues
    where org_id = ${orgId}
      and listed
      and status = 'open'
    on conflict (org_id, day) do update
    set critical = excluded.critical, high = excluded.high, medium = excluded.medium, low = excluded.low,
      info = excluded.info, median_age_seconds = excluded.median_age_seconds, counted_at = excluded.counted_at
    where issue_days.counted_at <= excluded.counted_at`
}

/** Organizations with issues. */
export async function listOrganizationsWithIssues(db: Db): Promise<string[]> {
  const withIssues = isSpread()
    ? db`select distinct org_id as id from security_issues`
    : db`select id from organizations org where exists (select from security_issues where org_id = org.id)`
  const rows = await db<{ id: string }[]>`
    select id
    from (${withIssues}) org
    order by id`
  return rows.map(({ id }) => id)
}

/** The figures that are counted per day. */
export type Trend = 'runs' | 'delivery'

/** The days of an organization that are counted: [from, until), all of them if `from` is null. */
export type CountedDays = { org_id: string; from: Date | null; until: Date; now: Date }

/** Organizations, and whether any of their days are counted. */
export async function listTrendOrganizations(db: Db, trend: Trend): Promise<{ org_id: string; is_counted: boolean }[]> {
  return db<{ org_id: string; is_counted: boolean }[]>`
    with progress as materialized (
      select org_id
      from trend_progress
      where trend = ${trend}
    )
    select org.id as org_id, progress.org_id is not null as is_counted
    from organizations org
    left join progress on progress.org_id = org.id
    order by org.id`
}

/**
 * Records that the days before `until` are counted. Locks the organization's trend, so that counts
 * take turns, which may take longer than other statements.
 */
export async function upsertProgress(tx: Tx, trend: Trend, { org_id, until }: CountedDays): Promise<void> {
  await tx`set local statement_timeout = 0`
  await tx`
    insert into trend_progress as progress (org_id, trend, until)
    values (${org_id}, ${trend}, ${until}::date)
    on conflict (org_id, trend) do update
    set until = greatest(progress.until, excluded.until)`
}

/** SQL: the first day that is not counted yet. */
export function buildCountedUntil(db: Db, orgId: string, trend: Trend) {
  return db`coalesce(
    (select until from trend_progress where org_id = ${orgId} and trend = ${trend}), '-infinity'::date
  )`
}

/**
 * The figures of days for the charts. Of those about issues, the last one still counts for later
 * days.
 */
export const expiringDays: readonly Expiring[] = [
  defineExpiringRows({
    kind: 'issue_days',
    table: 'issue_days',
    key: ['day'],
    order: 'day',
    isExpired: (db, { org_id, before }) => db`
      item.day < (select max(day) from issue_days where org_id = ${org_id} and day <= ${before}::date)`,
  }),
  defineExpiringDays('run_days', ['day', 'repository', 'status']),
  defineExpiringDays('delivery_days', ['day', 'environment', 'repository']),
]

function defineExpiringDays(table: string, key: readonly [string, ...string[]]): Expiring {
  const isExpired: Parameters<typeof defineExpiringRows>[0]['isExpired'] = (db, { before }) =>
    db`item.day < ${before}::date`
  return defineExpiringRows({ kind: table, table, key, order: 'day', isExpired })
}
