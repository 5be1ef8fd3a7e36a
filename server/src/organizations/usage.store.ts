import type { Tx } from '../platform/db/sql.ts'

/** What a plan may limit by the month. */
export type Metric = 'ci_runs' | 'artifact_bytes'

export type Use = { metric: Metric; amount: number; month: Date; max: number }

/**
 * Counts a use inside the transaction that causes it. False, and nothing counted, when it would go over the month's
 * allowance. The row is a queue for all writers of the organization, which is fine where a plan has a limit, and why
 * a plan without one never calls this.
 */
export async function useMonthly(tx: Tx, orgId: string, { metric, amount, month, max }: Use): Promise<boolean> {
  const rows = await tx`
    insert into monthly_usage as usage (org_id, month, metric, used)
    select ${orgId}, ${month}, ${metric}, ${amount}
    where ${amount}::bigint <= ${max}::bigint
    on conflict (org_id, month, metric) do update
    set used = usage.used + excluded.used
    where usage.used + excluded.used <= ${max}
    returning used`
  return rows.length === 1
}
