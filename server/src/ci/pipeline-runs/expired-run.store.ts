import { defineExpiringWithParts, type Expiring, type RemoveParts } from '../../platform/db/expiring-rows.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { deleteArtifactsOfRuns } from '../reports/artifact-removal.store.ts'
import { buildIsOpenRun } from '../runs/run.store.ts'
import { deleteSubjectsOfRuns } from '../subjects/subject.store.ts'

/** SQL: whether a run `item` from before a time stays. */
type IsKept = (db: Db, before: Date) => object

/** Deletes the earlier attempts of runs. */
export async function deleteAttempts(tx: Tx, orgId: string, runIds: readonly string[]): Promise<void> {
  await tx`
    delete from ci_run_attempts
    where org_id = ${orgId}
      and run_id = any(${[...runIds]})`
}

/**
 * Runs that were created too long ago, with their attempts, reports and artifacts. The files of the
 * artifacts are abandoned. One that has not ended stays, because a deployment may wait for it. So
 * does one that slices above this one need. `follow` is called first, for what was decided with
 * them.
 */
export function buildExpiringRuns(isKept: IsKept, follow: RemoveParts): Expiring {
  return defineExpiringWithParts(
    {
      kind: 'runs',
      table: 'ci_runs',
      order: 'created_at',
      isExpired: (db, { before }) => db`
        item.created_at < ${before}
        and item.completed_at is not null
        and not ${buildIsOpenRun(db, db`item`, before)}
        and not ${isKept(db, before) as ReturnType<Db>}`,
    },
    async (tx, orgId, ids, at) => {
      await follow(tx, orgId, ids, at)
      await deleteArtifactsOfRuns(tx, orgId, ids)
      await deleteSubjectsOfRuns(tx, orgId, ids)
      await deleteReports(tx, orgId, ids)
      await deleteRunFacts(tx, orgId, ids)
      await deleteAttempts(tx, orgId, ids)
    },
  )
}

const TABLES = ['ci_run_writers', 'provider_run_attempts', 'provider_run_jobs', 'provider_run_scores', 'provider_runs']

/** Deletes who wrote to runs, and what is known of runs of code hosts. */
async function deleteRunFacts(tx: Tx, orgId: string, runIds: readonly string[]): Promise<void> {
  await tx`
    delete from unscored_provider_runs unscored
    using provider_runs run
    where run.org_id = ${orgId}
      and run.run_id = any(${[...runIds]})
      and unscored.org_id = run.org_id
      and unscored.provider = run.provider
      and unscored.repository_id = run.repository_id
      and unscored.run_id = run.run_id`
  for (const table of TABLES)
    await tx`
      delete from ${tx(table)}
      where org_id = ${orgId}
        and run_id = any(${[...runIds]})`
}

/** Deletes the reports of runs and their attestations. Their artifacts must be gone. */
async function deleteReports(tx: Tx, orgId: string, runIds: readonly string[]): Promise<void> {
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

/** An attempt with reports. `name` is for people, and `since` the time of its first report. */
export type ReportedAttempt = { run_id: string; attempt: number; commit_sha: string | null; name: string; since: Date }

/** The attempts of some runs that have reports. */
export async function listReportedAttempts(db: Db, orgId: string, runIds: readonly string[]) {
  return db<ReportedAttempt[]>`
    select run.id as run_id, report.attempt, min(report.created_at) as since,
      format('attempt %s of run %s of %s', report.attempt, run.external_run_id, left(run.pipeline_name, 100)) as name,
      coalesce(attempt.commit_sha, run.attempt_commit_sha, run.commit_sha) as commit_sha
    from ci_runs run
    join ci_reports report on report.org_id = run.org_id and report.run_id = run.id
    left join ci_run_attempts attempt
      on attempt.org_id = run.org_id and attempt.run_id = run.id and attempt.number = report.attempt
    where run.org_id = ${orgId}
      and run.id = any(${[...runIds]})
    group by run.id, run.org_id, report.attempt, attempt.commit_sha`
}
