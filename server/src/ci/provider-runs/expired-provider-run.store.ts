import type { Tx } from '../../platform/db/sql.ts'

const TABLES = ['provider_run_attempts', 'provider_run_jobs', 'provider_run_scores', 'provider_runs']

/** Deletes what is known of runs of code hosts, besides the runs themselves. */
export async function deleteProviderFacts(tx: Tx, orgId: string, runIds: readonly string[]): Promise<void> {
  await tx`
    delete from unscored_provider_runs unscored
    using provider_runs run
    where run.org_id = ${orgId}
      and run.run_id = any(${[...runIds]})
      and unscored.org_id = run.org_id
      and unscored.provider = run.provider
      and unscored.repository_id = run.repository_id
      and unscored.run_id = run.run_id`
  for (const table of TABLES)
    await tx`
      delete from ${tx(table)}
      where org_id = ${orgId}
        and run_id = any(${[...runIds]})`
}
