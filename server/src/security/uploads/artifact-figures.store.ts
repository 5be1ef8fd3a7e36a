import type { Db } from '../../platform/db/sql.ts'
import type { ReportFormat } from '../formats/report/parsed-report.ts'
import type { SeverityCounts } from '../reconcile/finding-merge.store.ts'

/** What we read ourselves in an artifact, beside what the job says of it. */
export type ReportFigures = {
  format: ReportFormat
  findings: number
  components: number
  openBySeverity: SeverityCounts
}

/** What was read in an artifact, as `applyReport` noted it; null until it was read, and where it could not be. */
export async function findArtifactFigures(db: Db, orgId: string, artifactId: string): Promise<ReportFigures | null> {
  const [row] = await db<ReportFigures[]>`
    select format, findings, components, outcome -> 'openBySeverity' as "openBySeverity"
    from security_uploads
    where org_id = ${orgId}
      and artifact_id = ${artifactId}
      and status = 'finished'`
  return row ?? null
}
