import type { Db, Tx } from '../platform/db/sql.ts'

/** What a plan may limit per month. */
type Metric = 'ci_runs' | 'artifact_bytes'

type Use = { metric: Metric; amount: number; month: Date; max: number }

/**
 * Adds a use in the transaction that causes it. Returns false, and adds nothing, if it would exceed
 * the month's limit. All writers of the organization wait for this row, so do not call it for a
 * plan without a limit.
 */
export async function upsertMonthlyUse(tx: Tx, orgId: string, { metric, amount, month, max }: Use): Promise<boolean> {
  if (amount > max) return false
  const rows = await tx`
    insert into monthly_usage as usage (org_id, month, metric, used)
    values (${orgId}, ${month}, ${metric}, ${amount})
    on conflict (org_id, month, metric) do update
    set used = usage.used + excluded.used
    where usage.used + excluded.used <= ${max}
    returning used`
  return rows.length === 1
}

/** What the organization has used in a month of a limited metric; 0 if nothing was counted. */
export async function findMonthlyUse(db: Db, orgId: string, metric: Metric, month: Date): Promise<number> {
  const [row] = await db<{ used: number }[]>`
    select used
    from monthly_usage
    where org_id = ${orgId}
      and month = ${month}
      and metric = ${metric}`
  return Number(row?.used ?? 0)
}
