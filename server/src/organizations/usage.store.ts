import type { Tx } from '../platform/db/sql.ts'

/** What a plan may limit by the month. */
export type Metric = 'ci_runs'

/**
 * Counts one more use inside the transaction that causes it. False when the month's allowance is used up: the caller
 * rolls back. The row is a queue for all writers of the organization, which is fine where a plan has a limit, and why
 * a plan without one never calls this.
 */
export async function useMonthly(tx: Tx, orgId: string, metric: Metric, month: Date, max: number): Promise<boolean> {
  const rows = await tx`
    insert into monthly_usage as usage (org_id, month, metric, used)
    select ${orgId}, ${month}, ${metric}, 1
    where ${max} > 0
    on conflict (org_id, month, metric) do update
    set used = usage.used + 1
    where usage.used < ${max}
    returning used`
  return rows.length === 1
}
