import { pageOf } from '../platform/db/page.ts'
import type { Db } from '../platform/db/sql.ts'
import type { Page, PageRow } from '../platform/http/lists.ts'
import { statusAt } from './attempt-deadline.store.ts'
import { pipelineRunJson } from './pipeline-run-json.store.ts'
import type { RunStatus } from './run-status.ts'

/** One page of runs, newest first, and one row more where there is a next page. */
export async function listPipelineRuns(
  db: Db,
  orgId: string,
  page: Page,
  filter: { status?: RunStatus | undefined },
  now: Date,
): Promise<PageRow[]> {
  const withStatus = filter.status === undefined ? db`` : db`and ${statusAt(db, 'run', now)} = ${filter.status}`
  return db<PageRow[]>`
    select run.created_at, run.id, ${pipelineRunJson(db, now)} as json
    from ci_runs run
    where run.org_id = ${orgId}
      and ${pageOf(db, page, db`run`)}
      ${withStatus}
    order by run.created_at desc, run.id desc
    limit ${page.limit + 1}`
}

/** A run that is not older than `retainedSince`, or null. */
export async function findPipelineRun(db: Db, orgId: string, id: string, retainedSince: Date, now: Date) {
  const [row] = await db<{ json: string }[]>`
    select ${pipelineRunJson(db, now)} as json
    from ci_runs run
    where run.org_id = ${orgId}
      and run.id = ${id}
      and run.created_at >= ${retainedSince}`
  return row?.json ?? null
}
