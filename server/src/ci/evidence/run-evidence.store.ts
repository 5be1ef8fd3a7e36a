import type { Db } from '../../platform/db/sql.ts'
import { buildHolderOrder } from '../../repositories/repository.store.ts'
import { splitAddress } from '../../repositories/repository-identity.ts'
import { buildDataWithFigures } from '../reports/attestation.store.ts'
import { buildTrustRank } from '../runs/run.store.ts'
import { buildAttempts, buildCompletedAt, buildStatusAt } from '../runs/run-attempt.store.ts'
import type { TrustClass } from '../runs/trust.ts'
import { buildIsOfRepository } from './commit-evidence.store.ts'
import { EVIDENCE_ITEMS_MAX, type FoundEvidence } from './evidence-scope.ts'
import type { AttestationFacts, ReportFacts, ScopeRun } from './standing-evidence.ts'

const ATTESTATION_BYTES_MAX = 2 * 1024 * 1024
/** Runs of one commit and lane whose reports are read, the newest. */
const RUNS_MAX = 1000
/** Reports, and attestations, of one commit and lane that are compared with each other. */
const COMPARED_MAX = 5000

/** What is deployed. The commit and the repository of the run have precedence. */
export type EvidenceSubject = {
  org_id: string
  /** The deploying run with its attempt; null if there is none. */
  run: { id: string; attempt: number } | null
  /** `host/owner/name` */
  repository: string
  commit_sha: string | null
}

/** The deploying run, and the reports of all runs of its repository and commit. */
export type CommitEvidence = FoundEvidence & { run: RunFacts | null; attempts: AttemptFacts[] }

type FoundRow = {
  run: RunFacts | null
  attempts: AttemptFacts[]
  runs: ScopeRun[]
  reports: ReportFacts[]
  attestations: AttestationFacts[]
  cut: TrustClass[]
}

/**
 * Finds what CI systems have reported about a commit at `now`, in one query: of the deploying run,
 * the attempts that are about the repository and commit of its own attempt, and the other runs of
 * the same repository and commit that have a report. Of each lane there are limits of its own, so
 * that none uses up those of another (trust §1). Without the data of attestations.
 */
export async function findCommitEvidence(db: Db, subject: EvidenceSubject, now: Date): Promise<CommitEvidence> {
  const { org_id, run } = subject
  const runId = run?.id ?? ''
  const [row] = await db<[FoundRow]>`
    with own as (
      select ${runJson(db, now)} as json, run.id, attempt.repository as source_repository,
        attempt.commit_sha as source_commit_sha, coalesce(attempt.repository, run.repository) as repository,
        coalesce(attempt.commit_sha, run.commit_sha) as commit_sha, attempt.number as attempt,
        case when attempt.repository is null then run.claimed_provider end as claimed_provider, run.claimed_repository_id
      from ci_runs run
      cross join ${buildAttempts(db, org_id, runId)} attempt
      where run.org_id = ${org_id}
        and run.id = ${runId}
        and attempt.number = ${run?.attempt ?? 0}
    ), deployed as (${selectDeployed(db, subject)}), considered as (${selectRuns(db, org_id)}),
    report as (${selectReports(db, org_id)}), attestation as (${selectAttestations(db, org_id)})
    select (select json from own) as run, ${attemptsJson(db, org_id, runId, now)} as attempts,
      (
        select coalesce(json_agg(
          json_build_object(
            'id', run.id, 'ref', run.ref, 'trust', run.trust, 'pipeline', run.pipeline_name, 'is_request', is_request
          )
          order by run.created_at, run.id
        ), '[]')
        from considered run
        where place <= ${RUNS_MAX}
      ) as runs,
      (
        select coalesce(json_agg(
          json_build_object(
            'id', id, 'run_id', run_id, 'attempt', attempt, 'job', job_name, 'name', name, 'matrix', matrix,
            'runner', runner, 'at', rfc3339(updated_at), 'trust', trust, 'key', job_key,
            'retries', coalesce(job_retries, 0)
          )
        ), '[]')
        from report
        where place <= ${COMPARED_MAX}
      ) as reports,
      (
        select coalesce(json_agg(
          json_build_object(
            'id', id, 'report_id', report_id, 'kind', kind, 'name', name, 'status', status,
            'at', rfc3339(updated_at), 'trust', trust
          )
        ), '[]')
        from attestation
        where place <= ${COMPARED_MAX}
      ) as attestations,
      (
        select coalesce(json_agg(distinct trust), '[]')
        from (
          select trust from considered where place > ${RUNS_MAX}
          union all
          select trust from report where place > ${COMPARED_MAX}
          union all
          select trust from attestation where place > ${COMPARED_MAX}
        ) beyond
      ) as cut`
  const isKnown = row.run !== null && run !== null
  return { ...row, own: isKnown ? { run_id: run.id, attempt: run.attempt } : null }
}

/**
 * One row: what is deployed, and the connected repository at its address, else the one that the
 * token of the run names: it may have had another name when it was tested.
 */
function selectDeployed(db: Db, { org_id, repository, commit_sha }: EvidenceSubject) {
  const { host, name } = splitAddress(repository)
  return db`
    select coalesce(own.repository, ${repository}) as address, coalesce(${commit_sha}, own.commit_sha) as commit_sha,
      coalesce(linked.provider, own.claimed_provider) as provider,
      case when linked.provider is null then own.claimed_repository_id else linked.id end as repository_id, own.id as run_id
    from (values (1)) given
    left join own on true
    left join lateral (
      select repository.provider, repository.id
      from repositories repository
      where repository.org_id = ${org_id}
        and repository.host = ${host}
        and lower(repository.full_name) = lower(${name})
      order by ${buildHolderOrder(db)}
      limit 1
    ) linked on true`
}

/** Runs with a place of their lane, the newest first. The deploying run has place 0. */
function selectRuns(db: Db, orgId: string) {
  const columns = db`run.id, run.ref, run.trust, run.pipeline_name, run.created_at, run.newest_attempt,
      run.attempt_repository, run.attempt_commit_sha, run.event = 'pull_request' or exists (
        select
        from provider_runs provider_run
        where provider_run.org_id = ${orgId}
          and provider_run.run_id = run.id
          and provider_run.trigger_kind = 'pull_request'
      ) as is_request`
  return db`
      select ${columns}, own.source_repository, own.source_commit_sha, 0 as place
      from own
      join ci_runs run on run.org_id = ${orgId} and run.id = own.id
      union all
      select ${columns}, null, null,
        row_number() over (partition by run.trust order by run.created_at desc, run.id desc) as place
      from deployed
      join ci_runs run on run.org_id = ${orgId} and run.commit_sha = deployed.commit_sha
      where run.id is distinct from deployed.run_id
        and ${buildIsOfRepository(db, orgId, 'deployed')}
        and exists (
          select
          from ci_reports report
          where report.org_id = ${orgId}
            and report.run_id = run.id
        )`
}

/** Those of the deploying attempt first, then the newest. */
function selectReports(db: Db, orgId: string) {
  return db`
      select report.id, report.run_id, report.attempt, report.job_name, report.name, report.matrix, report.runner,
        report.updated_at, report.trust, report.job_key, report.job_retries, ${isOwnAttempt(db)} as is_own,
        row_number() over (
          partition by report.trust order by ${isOwnAttempt(db)} desc, report.updated_at desc, report.id
        ) as place
      from considered run
      cross join lateral (
        select run.newest_attempt as number
        where (run.attempt_repository, run.attempt_commit_sha)
          is not distinct from (run.source_repository, run.source_commit_sha)
        union all
        select earlier.number
        from ci_run_attempts earlier
        where earlier.org_id = ${orgId}
          and earlier.run_id = run.id
          and (earlier.repository, earlier.commit_sha) is not distinct from (run.source_repository, run.source_commit_sha)
      ) attempt
      join ci_reports report
        on report.org_id = ${orgId} and report.run_id = run.id and report.attempt = attempt.number
      left join own on true
      where run.place <= ${RUNS_MAX}`
}

function isOwnAttempt(db: Db): ReturnType<Db> {
  return db`(own.id is not null and report.run_id = own.id and report.attempt = own.attempt)`
}

/** The same, failed ones before the others. */
function selectAttestations(db: Db, orgId: string) {
  return db`
      select item.id, item.report_id, item.kind, item.name, item.status, item.trust, item.updated_at,
        row_number() over (
          partition by item.trust
          order by report.is_own desc, case item.status when 'fail' then 0 when 'warn' then 1 else 2 end,
            item.updated_at desc, item.id
        ) as place
      from report
      join ci_attestations item on item.org_id = ${orgId} and item.report_id = report.id
      where report.place <= ${COMPARED_MAX}`
}

function runJson(db: Db, now: Date) {
  return db`json_build_object(
    'id', run.id, 'provider', run.provider, 'ci_system', coalesce(run.ci_system, run.provider),
    'ci_instance', run.ci_instance, 'external_run_id', run.external_run_id,
    'repository', coalesce(attempt.repository, run.repository), 'ref', run.ref,
    'commit_sha', coalesce(attempt.commit_sha, run.commit_sha), 'pipeline_name', run.pipeline_name,
    'event', run.event, 'attempt', attempt.number, 'status', ${buildStatusAt(db, 'attempt', now)}, 'actor', attempt.actor,
    'started_at', rfc3339(attempt.started_at), 'completed_at', rfc3339(${buildCompletedAt(db, 'attempt', now)}),
    'trust', attempt.trust,
    'ref_protected', case run.claims ->> 'ref_protected' when 'true' then true when 'false' then false end
  )`
}

function attemptsJson(db: Db, orgId: string, runId: string, now: Date) {
  return db`(
    select coalesce(json_agg(
      json_build_object(
        'number', attempt.number, 'status', ${buildStatusAt(db, 'attempt', now)},
        'started_at', rfc3339(attempt.started_at), 'completed_at', rfc3339(${buildCompletedAt(db, 'attempt', now)}),
        'trust', attempt.trust
      )
      order by attempt.number
    ), '[]')
    from ${buildAttempts(db, orgId, runId)} attempt
  )`
}

/** The data of attestations by their ids, and the uploaded artifacts of reports. */
export type EvidenceContent = {
  /** Those that come after the size limit are absent. */
  data: Record<string, Record<string, unknown>>
  artifacts: { report_id: string; path: string; size: number; sha256: string; at: string; trust: string }[]
}

/**
 * Finds the content of evidence, in the order of the attestations. The most trustworthy artifacts
 * come first within the limits.
 */
export async function findEvidenceContent(
  db: Db,
  orgId: string,
  { attestations, reports }: { attestations: readonly string[]; reports: readonly string[] },
): Promise<EvidenceContent> {
  if (reports.length === 0) return { data: {}, artifacts: [] }
  const [row] = await db<[EvidenceContent]>`
    select (
      select coalesce(json_object_agg(id, data), '{}')
      from (
        select id, data, sum(octet_length(data::text)) over (order by position) as bytes_so_far
        from (
          select item.id, ${buildDataWithFigures(db)} as data, given.position
          from unnest(${attestations as string[]}::uuid[]) with ordinality as given (attestation_id, position)
          join ci_attestations item on item.org_id = ${orgId} and item.id = given.attestation_id
        ) ordered
      ) measured
      where bytes_so_far <= ${ATTESTATION_BYTES_MAX}
    ) as data, ${artifactsJson(db, orgId, reports)} as artifacts`
  return row
}

function artifactsJson(db: Db, orgId: string, reports: readonly string[]) {
  return db`(
    select coalesce(json_agg(
      json_build_object(
        'report_id', report_id, 'path', path, 'size', size, 'sha256', sha256, 'at', rfc3339(created_at), 'trust', trust
      )
      order by path, report_id
    ), '[]')
    from (
      select path, size, sha256, trust, created_at, report_id
      from ci_artifacts artifact
      where org_id = ${orgId}
        and report_id = any(${reports as string[]})
        and status = 'uploaded'
      order by ${buildTrustRank(db, db`trust`)}, path, report_id
      limit ${EVIDENCE_ITEMS_MAX}
    ) artifact
  )`
}

type AttemptFacts = { number: number; status: string; started_at: string; completed_at: string | null; trust: string }

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
  ref_protected: boolean | null
}
