import { buildPageCondition } from '../../platform/db/page.ts'
import { buildSpreadCondition } from '../../platform/db/spread.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import type { Page, PageRow } from '../../platform/http/lists.ts'
import { buildIsOpenRun, buildTrustRank } from '../runs/run.store.ts'
import { buildAttemptSources } from '../runs/run-attempt.store.ts'
import { TRUST_CLASSES, type TrustClass } from '../runs/trust.ts'
import { buildReportSubjects } from '../subjects/subject.store.ts'
import type { ReportKey } from './artifact.store.ts'
import { buildDataWithFigures } from './attestation.store.ts'
import type { Matrix } from './report.schema.ts'

export type ReportRow = {
  id: string
  attempt: number
  /** The lane of the report: the class of every credential that may write it. */
  trust: TrustClass
  job_name: string
  matrix: Matrix | null
  runner: string | null
  name: string
  /** What tells jobs with one name apart. Null if the sender has said nothing of it. */
  job_identity: string | null
  job_key: string | null
  job_instance: string | null
  job_retries: number | null
  summary: string | null
}

/** Stores a report or replaces the one with the same id. */
export async function upsertReport(tx: Tx, key: ReportKey, report: ReportRow, at: Date): Promise<void> {
  await tx`
    insert into ci_reports (
      org_id, id, run_id, attempt, job_name, matrix, runner, name, summary, trust, job_identity, job_key, job_instance,
      job_retries, created_at, updated_at
    )
    values (
      ${key.org_id}, ${report.id}, ${key.run_id}, ${report.attempt}, ${report.job_name},
      ${report.matrix === null ? null : tx.json(report.matrix as never)}, ${report.runner}, ${report.name},
      ${report.summary}, ${report.trust}, ${report.job_identity}, ${report.job_key}, ${report.job_instance},
      ${report.job_retries}, ${at}, ${at}
    )
    on conflict (org_id, id) do update
    set runner = excluded.runner, summary = excluded.summary, job_instance = excluded.job_instance,
      job_retries = excluded.job_retries, updated_at = excluded.updated_at`
}

export type ReportIdentity = Pick<ReportRow, 'attempt' | 'job_name' | 'matrix' | 'name' | 'job_identity'>

/** The reports of one job in all lanes. The run is locked, so they do not change. */
export async function listLanes(tx: Tx, { org_id, run_id }: RunKey, { matrix, ...report }: ReportIdentity) {
  return tx<Pick<ReportRow, 'id' | 'trust'>[]>`
    select id, trust
    from ci_reports
    where org_id = ${org_id}
      and run_id = ${run_id}
      and attempt = ${report.attempt}
      and job_name = ${report.job_name}
      and name = ${report.name}
      and coalesce(matrix, '{}') = ${tx.json((matrix ?? {}) as never)}::jsonb
      and job_identity is not distinct from ${report.job_identity}::text
    order by id
    limit ${REPORTS_OF_JOB_MAX}`
}

/**
 * The other jobs of a run that one lane has reported with the name and matrix of a report: how many
 * of them the CI system tells apart, and whether the attempt has another one. The run is locked.
 */
export async function countJobs(
  tx: Tx,
  { org_id, run_id }: RunKey,
  { matrix, trust, ...report }: ReportIdentity & Pick<ReportRow, 'trust'>,
): Promise<{ told_apart: number; has_others: boolean }> {
  const [row] = await tx<[{ told_apart: number; has_others: boolean }]>`
    select
      count(distinct job_identity) filter (where job_identity is distinct from ${report.job_identity}::text)::int as told_apart,
      coalesce(
        bool_or(attempt = ${report.attempt} and job_identity is distinct from ${report.job_identity}::text), false
      ) as has_others
    from ci_reports
    where org_id = ${org_id}
      and run_id = ${run_id}
      and job_name = ${report.job_name}
      and name = ${report.name}
      and trust = ${trust}
      and coalesce(matrix, '{}') = ${tx.json((matrix ?? {}) as never)}::jsonb`
  return row
}

/** One a lane. */
const REPORTS_OF_JOB_MAX = TRUST_CLASSES.length

/** Locks a report until the transaction ends; null when the run has no such report. */
export async function lockReport(tx: Tx, { org_id, run_id, report_id }: ReportKey) {
  const [row] = await tx<Pick<ReportRow, 'id' | 'runner' | 'trust' | 'attempt' | 'job_name' | 'job_retries'>[]>`
    select id, runner, trust, attempt, job_name, job_retries
    from ci_reports
    where org_id = ${org_id}
      and id = ${report_id}
      and run_id = ${run_id}
    for update`
  return row ?? null
}

/** An uploaded artifact with the run and the job that it comes from. */
export type ReadableArtifact = {
  path: string
  size: number
  sha256: string
  trust: TrustClass
  run_id: string
  /** `host/owner/name` */
  repository: string
  /** The repository at its code host, as the token of the job or the code host names it. */
  repository_key: { provider: string; id: string } | null
  commit_sha: string | null
  ref: string | null
  event: string
  pipeline_name: string
  job_name: string
  matrix: Matrix | null
  report_name: string
}

/** An artifact to read into findings; null when it does not exist or is not uploaded. */
export async function findReadableArtifact(db: Db, orgId: string, id: string): Promise<ReadableArtifact | null> {
  const [row] = await db<ReadableArtifact[]>`
    select artifact.path, artifact.size, artifact.sha256, artifact.trust, artifact.run_id,
      ${address(db)} as repository, ${repositoryKey(db)} as repository_key, coalesce(attempt.commit_sha, run.commit_sha) as commit_sha, run.ref,
      run.event, run.pipeline_name, report.job_name, report.matrix, report.name as report_name
    from ci_artifacts artifact
    join ci_reports report on report.org_id = artifact.org_id and report.id = artifact.report_id
    join ci_runs run on run.org_id = artifact.org_id and run.id = artifact.run_id
    left join provider_runs provider_run on provider_run.org_id = run.org_id and provider_run.run_id = run.id
    left join lateral ${buildAttemptSources(db, orgId, db`run.id`)} attempt on attempt.number = report.attempt
    where artifact.org_id = ${orgId}
      and artifact.id = ${id}
      and artifact.status = 'uploaded'`
  return row ?? null
}

/** A token names the repository, unless it is that of the run, which then has the name. */
function address(db: Db) {
  return db`
    case when artifact.claimed_repository_id in (run.claimed_repository_id, provider_run.repository_id)
      then run.repository
      else coalesce(artifact.claimed_repository, attempt.repository, run.repository)
    end`
}

/**
 * An artifact of a token belongs to the repository of the token, whatever run it is reported for.
 */
function repositoryKey(db: Db) {
  return db`
    case
      when artifact.claimed_provider is not null
        then json_build_object('provider', artifact.claimed_provider, 'id', artifact.claimed_repository_id)
      when run.claimed_provider is not null
        then json_build_object('provider', run.claimed_provider, 'id', run.claimed_repository_id)
      when provider_run.provider is not null
        then json_build_object('provider', provider_run.provider, 'id', provider_run.repository_id)
    end`
}

type RunKey = Pick<ReportKey, 'org_id' | 'run_id'>

/** Whether the organization has a run that was not over before `since`. */
export async function hasRun(db: Db, { org_id, run_id }: RunKey, since: Date): Promise<boolean> {
  const rows = await db`
    select
    from ci_runs run
    where run.org_id = ${org_id}
      and run.id = ${run_id}
      and (run.created_at >= ${since} or ${buildIsOpenRun(db, db`run`, since)})`
  return rows.length > 0
}

/** One page of the reports of a run, newest first, and one row more where there is a next page. */
export async function listReports(db: Db, { org_id, run_id }: RunKey, page: Page): Promise<PageRow[]> {
  const members = db`
    report.summary is not null as has_summary, ${artifactCount(db, org_id)} as artifact_count,
    ${attestationsJson(db, org_id, db``)} as attestations`
  return db<PageRow[]>`
    select report.created_at, report.id, ${reportJson(db, org_id, members)} as json
    from ci_reports report
    where report.org_id = ${org_id}
      and report.run_id = ${run_id}
      and ${buildPageCondition(db, page, db`report`, db`true`)}
    order by report.created_at desc, report.id desc
    limit ${page.limit + 1}`
}

/** A report as JSON, or null if the run has no such report. */
export async function findReport(db: Db, { org_id, run_id, report_id }: ReportKey): Promise<string | null> {
  const members = db`
    report.summary, ${artifactCount(db, org_id)} as artifact_count, ${buildReportSubjects(db, org_id)} as subjects,
    ${attestationsJson(db, org_id, db`, 'data', ${buildDataWithFigures(db)}`)} as attestations`
  const [row] = await db<{ json: string }[]>`
    select ${reportJson(db, org_id, members)} as json
    from ci_reports report
    where report.org_id = ${org_id}
      and report.id = ${report_id}
      and report.run_id = ${run_id}`
  return row?.json ?? null
}

type Expression = ReturnType<typeof artifactCount>

function reportJson(db: Db, orgId: string, members: Expression) {
  return db`(
    select row_to_json(item)::text
    from (
      select report.id, report.run_id, report.attempt,
        json_build_object(
          'name', report.job_name, 'matrix', report.matrix, 'runner', report.runner, 'key', report.job_key,
          'instance', report.job_instance, 'retries', report.job_retries
        ) as job,
        report.name, report.trust, ${besideJson(db, orgId)} as stands_beside,
        rfc3339(report.created_at) as created_at, rfc3339(report.updated_at) as updated_at, ${members}
    ) item
  )`
}

/** The most trustworthy report of the same job in another lane. */
function besideJson(db: Db, orgId: string) {
  return db`(
    select other.id
    from ci_reports other
    where other.org_id = report.org_id ${buildSpreadCondition(db, 'other', orgId)}
      and other.run_id = report.run_id
      and other.attempt = report.attempt
      and other.job_name = report.job_name
      and other.name = report.name
      and coalesce(other.matrix, '{}') = coalesce(report.matrix, '{}')
      and other.job_identity is not distinct from report.job_identity
      and other.trust <> report.trust
    order by ${buildTrustRank(db, db`other.trust`)}
    limit 1
  )`
}

function artifactCount(db: Db, orgId: string) {
  return db`(
    select count(distinct artifact.path)
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
      and ${buildPageCondition(db, page, db`artifact`, db`true`)}
    order by artifact.created_at desc, artifact.id desc
    limit ${page.limit + 1}`
}

/**
 * An uploaded artifact of a run that was not over before `since`; null if there is none.
 */
export async function findUploadedArtifact(db: Db, orgId: string, id: string, since: Date) {
  const [row] = await db<{ path: string; size: number }[]>`
    select artifact.path, artifact.size
    from ci_artifacts artifact
    join ci_runs run on run.org_id = artifact.org_id and run.id = artifact.run_id
    where artifact.org_id = ${orgId}
      and artifact.id = ${id}
      and artifact.status = 'uploaded'
      and (run.created_at >= ${since} or ${buildIsOpenRun(db, db`run`, since)})`
  return row ?? null
}
