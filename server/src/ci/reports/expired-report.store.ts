import type { Tx } from '../../platform/db/sql.ts'

/** Deletes the reports of runs and their attestations. Their artifacts must be gone. */
export async function deleteReports(tx: Tx, orgId: string, runIds: readonly string[]): Promise<void> {
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
