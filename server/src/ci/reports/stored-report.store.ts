import { buildPageCondition } from '../../platform/db/page.ts'
import { buildSpreadCondition } from '../../platform/db/spread.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Page, PageRow } from '../../platform/http/lists.ts'
import type { ReportKey } from '../artifacts/artifact.store.ts'
import { buildDataWithFigures } from './attestation.store.ts'

type RunKey = Pick<ReportKey, 'org_id' | 'run_id'>

/** Whether the organization has a run that was created at or after `since`. */
export async function hasRun(db: Db, { org_id, run_id }: RunKey, since: Date): Promise<boolean> {
  const rows = await db`
    select
    from ci_runs
    where org_id = ${org_id}
      and id = ${run_id}
      and created_at >= ${since}`
  return rows.length > 0
}

/** One page of the reports of a run, newest first, and one row more where there is a next page. */
export async function listReports(db: Db, { org_id, run_id }: RunKey, page: Page): Promise<PageRow[]> {
  const members = db`
    report.summary is not null as has_summary, ${artifactCount(db, org_id)} as artifact_count,
    ${attestationsJson(db, org_id, db``)} as attestations`
  return db<PageRow[]>`
    select report.created_at, report.id, ${reportJson(db, members)} as json
    from ci_reports report
    where report.org_id = ${org_id}
      and report.run_id = ${run_id}
      and ${buildPageCondition(db, page, db`report`)}
    order by report.created_at desc, report.id desc
    limit ${page.limit + 1}`
}

/** A report as JSON, or null if the run has no such report. */
export async function findReport(db: Db, { org_id, run_id, report_id }: ReportKey): Promise<string | null> {
  const members = db`
    report.summary, ${artifactCount(db, org_id)} as artifact_count,
    ${attestationsJson(db, org_id, db`, 'data', ${buildDataWithFigures(db)}`)} as attestations`
  const [row] = await db<{ json: string }[]>`
    select ${reportJson(db, members)} as json
    from ci_reports report
    where report.org_id = ${org_id}
      and report.id = ${report_id}
      and report.run_id = ${run_id}`
  return row?.json ?? null
}

type Expression = ReturnType<typeof artifactCount>

function reportJson(db: Db, members: Expression) {
  return db`(
    select row_to_json(item)::text
    from (
      select report.id, report.run_id, report.attempt,
        json_build_object('name', report.job_name, 'matrix', report.matrix, 'runner', report.runner) as job,
        report.name, report.trust, rfc3339(report.created_at) as created_at, rfc3339(report.updated_at) as updated_at,
        ${members}
    ) item
  )`
}

function artifactCount(db: Db, orgId: string) {
  return db`(
    select count(*)
    from ci_artifacts artifact
    where artifact.org_id = report.org_id ${buildSpreadCondition(db, 'artifact', orgId)}
      and artifact.report_id = report.id
  )`
}

/** The attestations of `report`. `more` is SQL with further names and values. */
function attestationsJson(db: Db, orgId: string, more: Expression) {
  return db`(
    select coalesce(
      json_agg(
        json_build_object(
          'id', id, 'kind', kind, 'name', name, 'status', status, 'trust', trust,
          'updated_at', rfc3339(updated_at)${more}
        )
        order by kind, name
      ), '[]')
    from ci_attestations attestation
    where attestation.org_id = report.org_id ${buildSpreadCondition(db, 'attestation', orgId)}
      and attestation.report_id = report.id
  )`
}

/**
 * One page of the artifacts of a run, newest first, and one row more where there is a next page.
 */
export async function listArtifacts(db: Db, { org_id, run_id }: RunKey, page: Page): Promise<PageRow[]> {
  return db<PageRow[]>`
    select artifact.created_at, artifact.id,
      (
        select row_to_json(item)::text
        from (
          select artifact.id, artifact.run_id, artifact.report_id, report.job_name, artifact.path, artifact.size,
            artifact.sha256, artifact.status, artifact.trust, rfc3339(artifact.created_at) as created_at
        ) item
      ) as json
    from ci_artifacts artifact
    join ci_reports report on report.org_id = artifact.org_id and report.id = artifact.report_id
    where artifact.org_id = ${org_id}
      and artifact.run_id = ${run_id}
      and ${buildPageCondition(db, page, db`artifact`)}
    order by artifact.created_at desc, artifact.id desc
    limit ${page.limit + 1}`
}

/**
 * An uploaded artifact of a run that was created at or after `since`; null if there is none.
 */
export async function findUploadedArtifact(db: Db, orgId: string, id: string, since: Date) {
  const [row] = await db<{ path: string; size: number }[]>`
    select artifact.path, artifact.size
    from ci_artifacts artifact
    join ci_runs run on run.org_id = artifact.org_id and run.id = artifact.run_id
    where artifact.org_id = ${orgId}
      and artifact.id = ${id}
      and artifact.status = 'uploaded'
      and run.created_at >= ${since}`
  return row ?? null
}
