import type { Db } from '../../../platform/db/sql.ts'
import type { RepositoryKey } from '../../../repositories/repository-key.ts'
import type { RunStatus } from '../../runs/run-status.ts'
import type { RunFailure } from './run-failure.ts'

/** A failed attempt that has not been explained. */
export type UnreadFailure = {
  run_id: string
  external_run_id: string
  attempt: number
  status: RunStatus
  failure_tried_at: Date | null
}

/** Failed attempts of a repository: first those that were not tried, newest first. */
export async function listUnreadFailures(db: Db, repository: RepositoryKey, limit: number): Promise<UnreadFailure[]> {
  const { org_id, provider, repository_id } = repository
  return db<UnreadFailure[]>`
    select run.run_id, ci_run.external_run_id, run.failure_attempt as attempt, ci_run.status, run.failure_tried_at
    from provider_runs run
    join ci_runs ci_run on ci_run.org_id = run.org_id and ci_run.id = run.run_id
    where run.org_id = ${org_id}
      and run.provider = ${provider}
      and run.repository_id = ${repository_id}
      and run.failure_due
    order by run.failure_tried_at nulls first, run.created_at desc, run.run_id desc
    limit ${limit}`
}

/**
 * Stores why an attempt failed, unless another attempt has become the newest one. `due`: something
 * could not be read, and may be read later.
 */
export async function updateFailure(
  db: Db,
  orgId: string,
  { run_id, attempt, status }: UnreadFailure,
  failure: RunFailure & { due: boolean; now: Date },
): Promise<void> {
  await db`
    update provider_runs run
    set failure_category = ${failure.failure_category}, failure_excerpt = ${failure.failure_excerpt},
      failure_due = ${failure.due}, failure_tried_at = coalesce(run.failure_tried_at, ${failure.now})
    from ci_runs ci_run
    where run.org_id = ${orgId}
      and run.run_id = ${run_id}
      and run.failure_attempt = ${attempt}
      and ci_run.org_id = run.org_id
      and ci_run.id = run.run_id
      and ci_run.status = ${status}`
}
