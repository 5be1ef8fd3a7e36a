import type { Db } from '../../platform/db/sql.ts'
import { buildStatusAt } from '../runs/attempt-deadline.store.ts'

/** A run that a policy can be tried on, with its newest attempt. */
export type RecentRun = {
  id: string
  attempt: number
  repository: string
  ref: string | null
  commit_sha: string | null
  pipeline_name: string
  status: string
  created_at: Date
}

type RecentFilter = { since: Date; repository: string | null; limit: number }

/** The runs of an organization, newest first. `repository` is `owner/name`. */
export async function listRecentRuns(db: Db, orgId: string, filter: RecentFilter, now: Date): Promise<RecentRun[]> {
  const { since, repository, limit } = filter
  return db<RecentRun[]>`
    select id, newest_attempt as attempt, repository, ref, commit_sha, pipeline_name,
      ${buildStatusAt(db, 'run', now)} as status, created_at
    from ci_runs run
    where org_id = ${orgId}
      and created_at >= ${since}
      ${repository === null ? db`` : db`and run_full_name(repository) = ${repository}`}
    order by created_at desc, id desc
    limit ${limit}`
}
