import type { Db, Tx } from '../platform/db/sql.ts'

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
