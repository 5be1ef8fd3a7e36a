import type { Db } from '../platform/db/sql.ts'

/** Without figures about the new rows, PostgreSQL would read whole tables for each of them. */
export async function updatePlannerStatistics(db: Db): Promise<void> {
  await db`analyze ci_runs, provider_runs, ci_reports, ci_attestations, ci_artifacts, commit_checks, deployments, findings`
}
