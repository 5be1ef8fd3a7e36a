import { defineExpiringWithParts, type ExpiringWithId } from '../../platform/db/expiring-rows.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { deleteArtifactsOfRuns } from '../reports/artifact-removal.store.ts'
import { buildIsOpenRun } from '../runs/run.store.ts'

/** Runs that ended too long ago. One whose deployment is kept stays with it. */
const EXPIRED_RUNS: ExpiringWithId = {
  kind: 'runs',
  table: 'ci_runs',
  order: 'created_at',
  isExpired: (db, { before }) => db`
    item.created_at < ${before}
    and item.completed_at is not null
    and not ${buildIsOpenRun(db, db`item`, before)}`,
}

/** Deletes the earlier attempts of runs. */
export async function deleteAttempts(tx: Tx, orgId: string, runIds: readonly string[]): Promise<void> {
  await tx`
    delete from ci_run_attempts
    where org_id = ${orgId}
      and run_id = any(${[...runIds]})`
}

/** Runs with their attempts, reports and artifacts. The files of the artifacts are abandoned. */
export const expiringRuns = defineExpiringWithParts(EXPIRED_RUNS, async (tx, orgId, ids) => {
  await deleteArtifactsOfRuns(tx, orgId, ids)
  await deleteReports(tx, orgId, ids)
  await deleteRunFacts(tx, orgId, ids)
  await deleteAttempts(tx, orgId, ids)
})

const TABLES = ['ci_run_writers', 'provider_run_attempts', 'provider_run_jobs', 'provider_run_scores', 'provider_runs']

/** Deletes who wrote to runs, and what is known of runs of code hosts. */
async function deleteRunFacts(tx: Tx, orgId: string, runIds: readonly string[]): Promise<void> {
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

/** Deletes the reports of runs and their attestations. Their artifacts must be gone. */
async function deleteReports(tx: Tx, orgId: string, runIds: readonly string[]): Promise<void> {
  await tx`
    delete from ci_attestations attestation
    using ci_reports report
    where report.org_id = ${orgId}
      and report.run_id = any(${[...runIds]})
      and attestation.org_id = report.org_id
      and attestation.report_id = report.id`
  await tx`
    delete from ci_reports
    where org_id = ${orgId}
      and run_id = any(${[...runIds]})`
}
