import type { Db } from '../../platform/db/sql.ts'
import { buildFindingDismissal } from '../findings/finding.store.ts'
import type { Severity } from '../vocabulary/severity.ts'
import { buildSeverityCounts, buildSeverityRank } from '../writing/issue-writing.store.ts'
import { buildLaneRank, buildStreamLane } from '../writing/lane.store.ts'
import { buildRepositoryNos } from './policy-facts.store.ts'

/** Null if no scanner had reported on the tracked branch. */
type ChangeSecurity = {
  /** Issues that were open on the tracked branch. */
  open: Record<Severity, number>
  known_exploited: number
  /**
   * Issues that the pull request adds. Null without a pull request, or if no scanner reported on
   * it.
   */
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
export async function findChangeSecurity(
  db: Db,
  repository: ChangedRepository,
  at: Date,
  pull: ScannedPullRequest | null,
): Promise<ChangeSecurity> {
  const { org_id, provider, repository_id, full_name } = repository
  const linked = { provider, id: repository_id }
  const lane = buildStreamLane(db, org_id, db`finding_streams`)
  const [row] = await db<[{ security: ChangeSecurity }]>`
    with repository as materialized (${buildRepositoryNos(db, org_id, { name: full_name, linked, provider })}),
    stream as materialized (
      select id, tracked, reported_at
      from finding_streams
      where org_id = ${org_id}
        and repository_no = any(array(select id from repository))
        and reported_at > '-infinity'
        and (tracked or ${isOfPullRequest(db, pull)})
      order by ${buildLaneRank(db, lane)} desc, tracked desc, reported_at desc
      limit ${STREAMS_MAX}
    ),
    present as materialized (${presentIssues(db, org_id, at)}),
    added as materialized (${addedIssues(db, org_id)}),
    figures as materialized (
      select (${countIssues(db, org_id, db`present`)}) as open, (${countIssues(db, org_id, db`added`)}) as added
    )
    select case when ${wasReported(db, org_id, at)} then json_build_object(
      'open', open - 'known_exploited',
      'known_exploited', open -> 'known_exploited',
      'added', case when exists (select from stream where not tracked) then added end
    ) end as security
    from figures`
  return row.security
}

/** A pull request is scanned as its branch, as a ref of the host, or as its commits. */
function isOfPullRequest(db: Db, pull: ScannedPullRequest | null) {
  if (pull === null) return db`false`
  const { number, head_ref, commits } = pull
  const refs = ['pull', 'merge-requests', 'pull-requests'].flatMap((kind) => [
    `refs/${kind}/${number}/head`,
    `refs/${kind}/${number}/merge`,
  ])
  return db`(
    git_ref = any(${refs})
    or branch_name(git_ref) = ${head_ref}::text
    or commit_sha = any(${commits as string[]})
  )`
}

/**
 * The issues that the tracked branch had. `severity` is null if all findings of the issue were
 * dismissed.
 */
function presentIssues(db: Db, orgId: string, at: Date) {
  return db`
    select issue_id, max(severity) filter (where was_open) as severity
    from (
      select issue_id, ${buildSeverityRank(db, db`severity`)} as severity,
        case state
          when 'open' then true
          when 'fixed' then updated_at > ${at}
          else coalesce(dismissal.dismissed_at, updated_at) > ${at}
        end as was_open,
        state <> 'fixed' or updated_at > ${at} as was_present
      from findings finding
      left join lateral ${buildFindingDismissal(db, orgId)} dismissal on finding.state = 'dismissed'
      where org_id = ${orgId}
        and stream_id = any(array(select id from stream where tracked))
        and first_seen_at <= ${at}
    ) finding
    where was_present
    group by issue_id`
}

function addedIssues(db: Db, orgId: string) {
  return db`
    select issue_id, max(${buildSeverityRank(db, db`severity`)}) as severity
    from findings
    where org_id = ${orgId}
      and stream_id = any(array(select id from stream where not tracked))
      and state = 'open'
      and not exists (select from present where present.issue_id = findings.issue_id)
    group by issue_id`
}

/**
 * Counts the issues of `present` or `added` by severity, and those in the KEV catalog. Each issue
 * is looked up: a join would read all issues of the organization.
 */
function countIssues(db: Db, orgId: string, issues: ReturnType<Db>) {
  return db`
    select ${buildSeverityCounts(db, db`counted.severity`)}::jsonb
      || jsonb_build_object('known_exploited', count(*) filter (where counted.kev))
    from (
      select severity, (
        select kev
        from security_issues issue
        where issue.org_id = ${orgId}
          and issue.id = ${issues}.issue_id
      ) as kev
      from ${issues}
      where severity is not null
    ) counted`
}

/** Whether a report on the tracked branch had been read, or findings of an alert were known. */
function wasReported(db: Db, orgId: string, at: Date) {
  return db`(
    exists (select from stream where tracked and reported_at <= ${at})
    or exists (select from present)
    or exists (
      select
      from security_uploads
      where org_id = ${orgId}
        and repository_no = any(array(select id from repository))
        and status = 'finished'
        and created_at <= ${at}
        and tracked
    )
  )`
}
