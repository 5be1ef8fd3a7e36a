import { buildSpreadCondition } from '../../platform/db/spread.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import type { SubjectRow } from './subject.ts'

type ReportKey = { org_id: string; run_id: string; report_id: string }

/**
 * Stores the subjects of a report, in place of those that it had. What it names again keeps its
 * time. The report is locked.
 */
export async function upsertSubjects(
  tx: Tx,
  { org_id, run_id, report_id }: ReportKey,
  rows: readonly SubjectRow[],
  { isNew, at }: { isNew: boolean; at: Date },
): Promise<void> {
  if (isNew && rows.length === 0) return
  const before = isNew
    ? []
    : await tx<{ name: string; sha256: string; created_at: Date }[]>`
        delete from ci_subjects
        where org_id = ${org_id}
          and report_id = ${report_id}
        returning name, sha256, created_at`
  if (rows.length === 0) return
  const times = new Map(before.map(({ name, sha256, created_at }) => [`${sha256} ${name}`, created_at]))
  const stamped = rows.map((row) => ({ ...row, created_at: times.get(`${row.sha256} ${row.name}`) ?? at }))
  await tx`
    insert into ci_subjects (
      org_id, report_id, run_id, position, part, name, sha256, media_type, platform, created_at
    )
    select ${org_id}, ${report_id}, ${run_id}, position, part, name, sha256, media_type, platform, created_at
    from jsonb_to_recordset(${tx.json(stamped as never)}::jsonb) as subject (
      position smallint, part smallint, name text, sha256 text, media_type text, platform text, created_at timestamptz
    )`
}

/** Deletes the subjects of runs that expire. */
export async function deleteSubjectsOfRuns(tx: Tx, orgId: string, runIds: readonly string[]): Promise<void> {
  await tx`
    delete from ci_subjects
    where org_id = ${orgId}
      and run_id = any(${[...runIds]})`
}

/**
 * The subjects of the report that an artifact belongs to, with the manifests of their platforms.
 */
export async function listSubjectsBesideArtifact(
  db: Db,
  orgId: string,
  artifactId: string,
): Promise<{ name: string; sha256: string }[]> {
  return db<{ name: string; sha256: string }[]>`
    select subject.name, subject.sha256
    from ci_artifacts artifact
    join ci_subjects subject on subject.org_id = artifact.org_id and subject.report_id = artifact.report_id
    where artifact.org_id = ${orgId}
      and artifact.id = ${artifactId}
    order by subject.position, subject.part`
}

/** Of these digests those that are of a subject or completed artifact of a run. */
export async function listKnownDigests(db: Db, orgId: string, digests: readonly string[]): Promise<Set<string>> {
  const rows = await db<{ sha256: string }[]>`
    select sha256
    from ci_subjects
    where org_id = ${orgId}
      and sha256 = any(${[...digests]})
    union
    select sha256
    from ci_artifacts
    where org_id = ${orgId}
      and sha256 = any(${[...digests]})
      and status = 'uploaded'`
  return new Set(rows.map(({ sha256 }) => sha256))
}

/** SQL: the subjects of a row `report` as JSON. */
export function buildReportSubjects(db: Db, orgId: string) {
  return db`(
    select coalesce(
      json_agg(
        json_build_object(
          'name', subject.name, 'sha256', subject.sha256, 'media_type', subject.media_type,
          'platforms', coalesce(subject.platforms, '[]')
        )
        order by subject.position
      ), '[]')
    from (
      select own.position, own.name, own.sha256, own.media_type, (
        select json_agg(json_build_object('sha256', part.sha256, 'platform', part.platform) order by part.part)
        from ci_subjects part
        where part.org_id = own.org_id
          and part.report_id = own.report_id
          and part.position = own.position
          and part.part > 0
      ) as platforms
      from ci_subjects own
      where own.org_id = report.org_id ${buildSpreadCondition(db, 'own', orgId)}
        and own.report_id = report.id
        and own.part = 0
    ) subject
  )`
}

/**
 * SQL: the rows of the subjects that the newest report of each job names, as of the attempt of a
 * deployment, before all positions of its own subjects.
 */
export function buildNewestSubjects(db: Db, orgId: string, deployment: string) {
  const of = db(deployment)
  return db`(
    select (dense_rank() over (order by report.job_name, report.id, subject.position) - ${POSITIONS_MAX})::integer as position,
      subject.part, subject.name, subject.sha256, subject.media_type, subject.platform, report.trust,
      null::text as stated_by
    from (
      select distinct on (job_name, name, trust, job_identity, matrix) id, job_name, trust
      from ci_reports
      where org_id = ${orgId}
        and run_id = ${of}.pipeline_run_id
        and attempt <= ${of}.attempt
      order by job_name, name, trust, job_identity, matrix, attempt desc
    ) report
    join ci_subjects subject on subject.org_id = ${orgId} and subject.report_id = report.id
  )`
}

/** More than a run has. */
const POSITIONS_MAX = 1_000_000
