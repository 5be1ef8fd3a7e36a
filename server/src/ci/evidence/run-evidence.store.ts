import type { Db } from '../../platform/db/sql.ts'
import { buildDataWithFigures } from '../reports/attestation.store.ts'
import { buildTrustRank } from '../runs/run.store.ts'
import { type AttemptKey, buildAttempts, buildCompletedAt, buildStatusAt } from '../runs/run-attempt.store.ts'

const ATTESTATION_BYTES_MAX = 2 * 1024 * 1024

/**
 * The evidence of one attempt of a run at `now`, in one query; null when the attempt does not
 * exist.
 */
export async function findRunEvidence(db: Db, key: AttemptKey, now: Date): Promise<RunEvidence | null> {
  const [row] = await db<RunEvidence[]>`
    select ${runJson(db, now)} as run, ${attemptsJson(db, key, now)} as attempts,
      ${reportsJson(db)} as reports, ${attestationsJson(db)} as attestations, ${artifactsJson(db)} as artifacts
    from ci_runs run
    cross join ${buildAttempts(db, key.org_id, key.run_id)} attempt
    where run.org_id = ${key.org_id}
      and run.id = ${key.run_id}
      and attempt.number = ${key.attempt}`
  return row ?? null
}

function runJson(db: Db, now: Date) {
  return db`json_build_object(
    'id', run.id, 'provider', run.provider, 'ci_system', coalesce(run.ci_system, run.provider),
    'ci_instance', run.ci_instance, 'external_run_id', run.external_run_id,
    'repository', coalesce(attempt.repository, run.repository), 'ref', run.ref,
    'commit_sha', coalesce(attempt.commit_sha, run.commit_sha), 'pipeline_name', run.pipeline_name,
    'event', run.event, 'attempt', attempt.number, 'status', ${buildStatusAt(db, 'attempt', now)}, 'actor', attempt.actor,
    'started_at', rfc3339(attempt.started_at), 'completed_at', rfc3339(${buildCompletedAt(db, 'attempt', now)}),
    'trust', attempt.trust
  )`
}

function attemptsJson(db: Db, { org_id, run_id }: AttemptKey, now: Date) {
  return db`(
    select json_agg(
      json_build_object(
        'number', attempt.number, 'status', ${buildStatusAt(db, 'attempt', now)},
        'started_at', rfc3339(attempt.started_at), 'completed_at', rfc3339(${buildCompletedAt(db, 'attempt', now)}),
        'trust', attempt.trust
      )
      order by attempt.number
    )
    from ${buildAttempts(db, org_id, run_id)} attempt
  )`
}

/**
 * Each report has a trust of its own, whatever the trust of the run. The most trustworthy ones come
 * first, so that what weaker credentials send never takes their place within the limits.
 */
function reportsJson(db: Db) {
  return db`(
    select coalesce(json_agg(
      json_build_object(
        'id', id, 'job', job_name, 'name', name, 'matrix', matrix, 'runner', runner, 'at', rfc3339(updated_at),
        'trust', trust
      )
      order by updated_at desc, id
    ), '[]')
    from (
      select id, job_name, name, matrix, runner, trust, updated_at
      from ci_reports
      where org_id = run.org_id
        and run_id = run.id
        and ci_reports.attempt = attempt.number
      order by ${buildTrustRank(db, db`trust`)}, updated_at desc, id
      limit ${EVIDENCE_ITEMS_MAX}
    ) report
  )`
}

/**
 * Of each trust, failed attestations first, so that the limits never cut off what counts against
 * the run.
 */
function attestationsJson(db: Db) {
  return db`(
    select coalesce(json_agg(
      json_build_object(
        'report_id', report_id, 'job', job_name, 'kind', kind, 'name', name, 'status', status,
        'data', case when bytes_so_far <= ${ATTESTATION_BYTES_MAX} then data end, 'at', rfc3339(updated_at),
        'trust', trust
      )
      order by position
    ), '[]')
    from (
      select *, row_number() over first_to_last as position, sum(octet_length(data::text)) over first_to_last as bytes_so_far
      from (
        select item.report_id, report.job_name, item.kind, item.name, item.status, ${buildDataWithFigures(db)} as data, item.trust,
          item.updated_at, item.id,
          ${buildTrustRank(db, db`item.trust`)} as strength,
          case item.status when 'fail' then 0 when 'warn' then 1 else 2 end as rank
        from ci_reports report
        join ci_attestations item on item.org_id = report.org_id and item.report_id = report.id
        where report.org_id = run.org_id
          and report.run_id = run.id
          and report.attempt = attempt.number
        order by strength, rank, item.updated_at desc, item.id
        limit ${EVIDENCE_ITEMS_MAX}
      ) kept
      window first_to_last as (order by strength, rank, updated_at desc, id)
    ) attestation
  )`
}

function artifactsJson(db: Db) {
  return db`(
    select coalesce(json_agg(
      json_build_object(
        'path', path, 'size', size, 'sha256', sha256, 'at', rfc3339(created_at), 'trust', trust
      )
      order by path, report_id
    ), '[]')
    from (
      select item.path, item.size, item.sha256, item.trust, item.created_at, item.report_id
      from ci_artifacts item
      join ci_reports report on report.org_id = item.org_id and report.id = item.report_id
      where item.org_id = run.org_id
        and item.run_id = run.id
        and item.status = 'uploaded'
        and report.attempt = attempt.number
      order by ${buildTrustRank(db, db`item.trust`)}, item.path, item.report_id
      limit ${EVIDENCE_ITEMS_MAX}
    ) artifact
  )`
}

/** The maximum length of each list, which bounds the size of the evidence of one run. */
export const EVIDENCE_ITEMS_MAX = 1000

/** What a CI system has reported about one attempt of a run. Times are formatted as in the API. */
export type RunEvidence = {
  run: RunFacts
  attempts: { number: number; status: string; started_at: string; completed_at: string | null; trust: string }[]
  reports: ReportFacts[]
  attestations: AttestationFacts[]
  artifacts: { path: string; size: number; sha256: string; at: string; trust: string }[]
}

type RunFacts = {
  id: string
  provider: string
  ci_system: string
  ci_instance: string | null
  external_run_id: string
  repository: string
  ref: string | null
  commit_sha: string | null
  pipeline_name: string
  event: string
  attempt: number
  status: string
  actor: string | null
  started_at: string
  completed_at: string | null
  trust: string
}

type ReportFacts = {
  id: string
  job: string
  name: string
  matrix: Record<string, unknown> | null
  runner: string | null
  at: string
  trust: string
}

type AttestationFacts = {
  report_id: string
  job: string
  kind: string
  name: string
  status: string
  /** Null when the attestations before this one have used up the size limit. */
  data: Record<string, unknown> | null
  at: string
  trust: string
}
