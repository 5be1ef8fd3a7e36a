import type { Db } from '../../platform/db/sql.ts'
import type { TrustClass } from '../runs/trust.ts'

/** A digest that is asked about. */
export type AskedDigest = { org_id: string; sha256: string }

/** Entries of one kind that are listed. */
export const TRACED_MAX = 100

type TracedReport = {
  id: string
  run_id: string
  attempt: number
  job_name: string
  name: string
  artifact_id: string | null
  platform: string | null
  trust: TrustClass
  created_at: string
}

/** Reports that name a digest as a subject or an uploaded file, newest first. */
export async function listReportsOfDigest(db: Db, { org_id, sha256 }: AskedDigest): Promise<TracedReport[]> {
  return db<TracedReport[]>`
    select report.id, report.run_id, report.attempt, report.job_name, found.name, found.artifact_id, found.platform,
      coalesce(found.trust, report.trust) as trust, rfc3339(report.created_at) as created_at
    from (
      select report_id, name, null as artifact_id, platform, null as trust
      from ci_subjects
      where org_id = ${org_id}
        and sha256 = ${sha256}
      union all
      select report_id, path, id, null, trust
      from ci_artifacts
      where org_id = ${org_id}
        and sha256 = ${sha256}
        and status = 'uploaded'
    ) found
    join ci_reports report on report.org_id = ${org_id} and report.id = found.report_id
    order by report.created_at desc, report.id, found.name
    limit ${TRACED_MAX}`
}

type TracedRun = {
  id: string
  repository: string
  commit_sha: string | null
  ref: string | null
  pipeline_name: string
  trust: TrustClass
  created_at: string
}

/** Some runs, newest first. */
export async function listRunsOfDigest(db: Db, orgId: string, ids: readonly string[]): Promise<TracedRun[]> {
  return db<TracedRun[]>`
    select id, repository, commit_sha, ref, pipeline_name, trust, rfc3339(created_at) as created_at
    from ci_runs
    where org_id = ${orgId}
      and id = any(${[...ids]})
    order by ci_runs.created_at desc, id`
}

type TracedAttestation = {
  id: string
  report_id: string
  kind: string
  name: string
  status: string
  trust: TrustClass
  created_at: string
}

/** The attestations of some reports, newest first. */
export async function listAttestationsOfDigest(
  db: Db,
  orgId: string,
  reportIds: readonly string[],
): Promise<TracedAttestation[]> {
  return db<TracedAttestation[]>`
    select id, report_id, kind, name, status, trust, rfc3339(created_at) as created_at
    from ci_attestations
    where org_id = ${orgId}
      and report_id = any(${[...reportIds]})
    order by ci_attestations.created_at desc, id
    limit ${TRACED_MAX}`
}
