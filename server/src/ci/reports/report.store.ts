import type { Db, Tx } from '../../platform/db/sql.ts'
import { attemptsOf } from '../runs/run-attempt.store.ts'
import type { Matrix } from './report-id.ts'

export type ReportRow = {
  id: string
  run_id: string
  attempt: number
  job_name: string
  matrix: Matrix | null
  runner: string | null
  name: string
  summary: string | null
}

/** Stores a report in place of the one of the same id. Tells whether it is new, and who had sent the one before. */
export async function upsertReport(tx: Tx, orgId: string, report: ReportRow, at: Date) {
  const before = await lockReport(tx, orgId, report.run_id, report.id)
  await tx`
    insert into ci_reports (
      org_id, id, run_id, attempt, job_name, matrix, runner, name, summary, created_at, updated_at
    )
    values (
      ${orgId}, ${report.id}, ${report.run_id}, ${report.attempt}, ${report.job_name},
      ${report.matrix === null ? null : tx.json(report.matrix)}, ${report.runner}, ${report.name}, ${report.summary},
      ${at}, ${at}
    )
    on conflict (org_id, id) do update
    set runner = excluded.runner, summary = excluded.summary, updated_at = excluded.updated_at`
  return { created: before === null, runnerBefore: before?.runner ?? null }
}

/** A report of a run, locked until the transaction ends. */
export async function lockReport(tx: Tx, orgId: string, runId: string, id: string) {
  const [row] = await tx<{ id: string; runner: string | null }[]>`
    select id, runner
    from ci_reports
    where org_id = ${orgId}
      and id = ${id}
      and run_id = ${runId}
    for update`
  return row ?? null
}

export async function attemptExists(db: Db, orgId: string, runId: string, number: number): Promise<boolean> {
  const rows = await db`
    select
    from ${attemptsOf(db, orgId, runId)} attempt
    where attempt.number = ${number}`
  return rows.length === 1
}
