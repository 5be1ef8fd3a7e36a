import { isSpread } from '../platform/db/spread.ts'
import type { Db } from '../platform/db/sql.ts'
import { toSeverityRank } from '../security/vocabulary/severity.ts'
import type { TrendDays } from './trend-days.ts'

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
