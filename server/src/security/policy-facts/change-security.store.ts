import type { Db } from '../../platform/db/sql.ts'
import { countBySeverity, rankOfSeverity } from '../vocabulary/severity.store.ts'
import type { Severity } from '../vocabulary/severity.ts'
import { repositoryNosOf } from './policy-repository.store.ts'

/** Null if no scanner had reported on the tracked branch. */
export type ChangeSecurity = {
  /** Issues that were open on the tracked branch. */
  open: Record<Severity, number>
  known_exploited: number
  /** Issues that the pull request adds. Null without a pull request, or if no scanner reported on it. */
  added: (Record<Severity, number> & { known_exploited: number }) | null
} | null

type ChangedRepository = { org_id: string; provider: string; repository_id: string; full_name: string }

type ScannedPullRequest = {
  number: number
  /** The branch of the pull request. Null if it is in another repository. */
  head_ref: string | null
  commits: readonly string[]
}

const STREAMS_MAX = 1000

/**
 * Counts the issues that were open on the tracked branch of a repository at a time, and those that
 * a pull request adds, in one round trip. Findings store only their last change of state, so that a
 * state of the past is an approximation: a finding that was fixed and opened again counts as open.
 */
export async function readChangeSecurity(
  db: Db,
  repository: ChangedRepository,
  at: Date,
  pull: ScannedPullRequest | null,
): Promise<ChangeSecurity> {
  const { org_id, provider, repository_id, full_name } = repository
  const linked = { provider, id: repository_id }
  const [row] = await db<[{ security: ChangeSecurity }]>`
    with repository as materialized (${repositoryNosOf(db, org_id, { name: full_name, linked, provider })}),
    stream as materialized (
      select id, tracked, reported_at
      from finding_streams
      where org_id = ${org_id}
        and repository_no = any(array(select id from repository))
        and reported_at > '-infinity'
        and (tracked or ${isOfPullRequest(db, pull)})
      order by tracked desc, reported_at desc
      limit ${STREAMS_MAX}
    ),
    present as materialized (${presentIssues(db, org_id, at)}),
    added as materialized (${addedIssues(db, org_id)})
    select case when ${wasReported(db, org_id, at)} then json_build_object(
      'open', (${countIssues(db, org_id, db`present`)})::jsonb - 'known_exploited',
      'known_exploited', (${countIssues(db, org_id, db`present`)}) -> 'known_exploited',
      'added', case when exists (select from stream where not tracked) then (${countIssues(db, org_id, db`added`)}) end
    ) end as security`
  return row.security
}
