import type { Db } from '../../platform/db/sql.ts'
import { type ArtifactTrace, ENTRIES_MAX } from './artifact-trace.schema.ts'

type Asked = { org_id: string; sha256: string }
type Section<Name extends keyof ArtifactTrace> = Extract<ArtifactTrace[Name], readonly unknown[]>

/** Reports that name a digest as a subject or an uploaded file, newest first. */
export async function listReportsOfDigest(db: Db, { org_id, sha256 }: Asked): Promise<Section<'reports'>> {
  return db<Section<'reports'>>`
    select report.id, report.run_id, report.attempt, report.job_name, named.name, named.artifact_id, named.platform,
      named.trust, rfc3339(report.created_at) as created_at
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
    cross join lateral (
      select found.name, found.artifact_id, found.platform, coalesce(found.trust, report.trust) as trust
    ) named
    order by report.created_at desc, report.id, named.name
    limit ${ENTRIES_MAX}`
}

/** The runs of these reports, newest first. */
export async function listRunsOfDigest(db: Db, orgId: string, ids: readonly string[]): Promise<Section<'runs'>> {
  return db<Section<'runs'>>`
    select id, repository, commit_sha, ref, pipeline_name, trust, rfc3339(created_at) as created_at
    from ci_runs
    where org_id = ${orgId}
      and id = any(${[...ids]})
    order by ci_runs.created_at desc, id`
}

/** The attestations of these reports, newest first. */
export async function listAttestationsOfDigest(
  db: Db,
  orgId: string,
  reportIds: readonly string[],
): Promise<Section<'attestations'>> {
  return db<Section<'attestations'>>`
    select id, report_id, kind, name, status, trust, rfc3339(created_at) as created_at
    from ci_attestations
    where org_id = ${orgId}
      and report_id = any(${[...reportIds]})
    order by ci_attestations.created_at desc, id
    limit ${ENTRIES_MAX}`
}

/** Documents that name a digest as what they are about, newest first. */
export async function listSbomsOfDigest(db: Db, { org_id, sha256 }: Asked): Promise<Section<'sboms'>> {
  return db<Section<'sboms'>>`
    select sbom.id, repository.name as repository, stream.category, sbom.components, stream.lane,
      rfc3339(sbom.created_at) as created_at
    from sboms sbom
    join inventory_streams stream on stream.org_id = sbom.org_id and stream.id = sbom.stream_id
    join reported_repositories repository on repository.org_id = stream.org_id and repository.id = stream.repository_no
    where sbom.org_id = ${org_id}
      and sbom.subjects @> ${db.json([{ sha256 }])}::jsonb
    order by sbom.created_at desc, sbom.no desc
    limit ${ENTRIES_MAX}`
}

type FoundDeployment = Section<'deployments'>[number]

/**
 * The deployments of a digest: those whose gates were opened with it or that somebody stated, and
 * those of its runs whose gates name nothing. Newest first.
 */
export async function listDeploymentsOfDigest(
  db: Db,
  { org_id, sha256 }: Asked,
  runIds: readonly string[],
): Promise<FoundDeployment[]> {
  return db<FoundDeployment[]>`
    select deployment.id, deployment.repository_full_name as repository, deployment.environment, deployment.status,
      rfc3339(deployment.created_at) as created_at
    from (
      select deployment_id as id
      from deployment_subjects
      where org_id = ${org_id}
        and sha256 = ${sha256}
      union
      select own.id
      from deployments own
      where own.org_id = ${org_id}
        and own.pipeline_run_id = any(${[...runIds]})
        and not exists (
          select
          from deployment_subjects named
          where named.org_id = ${org_id}
            and named.deployment_id = own.id
            and named.stated_by is null
        )
    ) found
    join deployments deployment on deployment.org_id = ${org_id} and deployment.id = found.id
    order by deployment.created_at desc, deployment.id
    limit ${ENTRIES_MAX}`
}

/** A statement of a deployment with the text of its envelope. */
type IssuedStatement = Omit<Section<'statements'>[number], 'kind'> & {
  kind: 'lineage' | 'verification'
  envelope: string
}

/** The statements about these deployments, newest first. */
export async function listStatementsOfDeployments(
  db: Db,
  orgId: string,
  ids: readonly string[],
): Promise<IssuedStatement[]> {
  return db<IssuedStatement[]>`
    select kind, subject_id as deployment_id, statement_digest, envelope, rfc3339(issued_at) as issued_at
    from statements
    where org_id = ${orgId}
      and kind in ('lineage', 'verification')
      and subject_id = any(${[...ids]})
    order by statements.issued_at desc
    limit ${ENTRIES_MAX}`
}
