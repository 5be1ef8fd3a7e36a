import type { Db } from '../../platform/db/sql.ts'
import type { Matrix } from '../reports/report-id.ts'

export type ReadableArtifact = {
  path: string
  size: number
  sha256: string
  run_id: string
  repository: string
  commit_sha: string
  ref: string | null
  event: string
  pipeline_name: string
  job_name: string
  matrix: Matrix | null
  report_name: string
}

/** An uploaded artifact with what its run and report say about where it comes from. */
export async function describeArtifact(db: Db, orgId: string, id: string): Promise<ReadableArtifact | null> {
  const [row] = await db<ReadableArtifact[]>`
    select artifact.path, artifact.size, artifact.sha256, artifact.run_id, run.repository, run.commit_sha, run.ref,
      run.event, run.pipeline_name, report.job_name, report.matrix, report.name as report_name
    from ci_artifacts artifact
    join ci_reports report on report.org_id = artifact.org_id and report.id = artifact.report_id
    join ci_runs run on run.org_id = artifact.org_id and run.id = artifact.run_id
    where artifact.org_id = ${orgId}
      and artifact.id = ${id}
      and artifact.status = 'uploaded'`
  return row ?? null
}
