import type { HostPullRequest, HostReview } from '../../codehosts/host-change.ts'
import type { HostSource } from '../../codehosts/host-event.ts'
import type { HostAccount } from '../../codehosts/host-repository.ts'
import { computeHostVersion } from '../../codehosts/host-version.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'

const STATES: HostPullRequest['state'][] = ['open', 'closed', 'merged']

/** Stores a pull request, unless a newer version of it is stored. */
export async function upsertPullRequest(tx: Tx, source: HostSource, pull: HostPullRequest): Promise<void> {
  const { repository, ...content } = pull
  const version = computeHostVersion({ updated_at: pull.updated_at, state: STATES.indexOf(pull.state), content })
  await tx`
    insert into pull_requests as stored (
      org_id, provider, repository_id, number, host_version, title, url, author, state, draft, head_ref, head_sha,
      head_repository_id, base_ref, base_sha, merge_commit_sha, merged_by, merged_by_queue, created_at, merged_at,
      closed_at, updated_at
    )
    values (
      ${source.org_id}, ${source.provider}, ${repository.id}, ${pull.number}, ${version}, ${pull.title}, ${pull.url},
      ${buildAccountJson(tx, pull.author)}, ${pull.state}, ${pull.draft}, ${pull.head.ref}, ${pull.head.sha},
      ${pull.head.repository_id}, ${pull.base.ref}, ${pull.base.sha}, ${pull.merge_commit_sha},
      ${buildAccountJson(tx, pull.merged_by)}, ${pull.merged_by_queue}, ${pull.created_at}, ${pull.merged_at},
      ${pull.closed_at}, ${pull.updated_at}
    )
    on conflict (org_id, provider, repository_id, number) do update
    set host_version = excluded.host_version, title = excluded.title, url = excluded.url, author = excluded.author,
      state = excluded.state, draft = excluded.draft, head_ref = excluded.head_ref, head_sha = excluded.head_sha,
      head_repository_id = excluded.head_repository_id, base_ref = excluded.base_ref, base_sha = excluded.base_sha,
      merge_commit_sha = excluded.merge_commit_sha, merged_by = excluded.merged_by, merged_by_queue = excluded.merged_by_queue, created_at = excluded.created_at,
      merged_at = excluded.merged_at, closed_at = excluded.closed_at, updated_at = excluded.updated_at
    where excluded.host_version > stored.host_version`
  await tx`
    insert into pull_request_heads (org_id, provider, repository_id, commit_sha, pull_request)
    values (${source.org_id}, ${source.provider}, ${repository.id}, ${pull.head.sha}, ${pull.number})
    on conflict do nothing`
}

/** Stores a review, unless a newer version of it is stored. A dismissal is final. */
export async function upsertReview(tx: Tx, source: HostSource, review: HostReview): Promise<void> {
  const { repository, ...content } = review
  const version = computeHostVersion({ updated_at: null, state: review.state === 'dismissed' ? 1 : 0, content })
  await tx`
    insert into pull_request_reviews as stored (
      org_id, provider, repository_id, id, pull_request, host_version, reviewer, state, commit_sha, submitted_at
    )
    values (
      ${source.org_id}, ${source.provider}, ${repository.id}, ${review.id}, ${review.pull_request}, ${version},
      ${buildAccountJson(tx, review.reviewer)}, ${review.state}, ${review.commit_sha}, ${review.submitted_at}
    )
    on conflict (org_id, provider, repository_id, id) do update
    set host_version = excluded.host_version, pull_request = excluded.pull_request, reviewer = excluded.reviewer,
      state = excluded.state, commit_sha = excluded.commit_sha, submitted_at = excluded.submitted_at
    where excluded.host_version > stored.host_version`
}

/** What is kept of an account: who it is, and whether it is a person. */
export function buildAccountJson(tx: Tx, account: HostAccount | null) {
  return account && tx.json({ id: account.id, login: account.login, is_bot: account.is_bot })
}

type MergedPullRequest = { merge_commit_sha: string; number: number; url: string | null }

/** The pull requests whose merge created one of these commits. */
export async function findMergedPullRequests(
  db: Db,
  repository: { org_id: string; provider: string; repository_id: string },
  commits: readonly string[],
): Promise<MergedPullRequest[]> {
  return db<MergedPullRequest[]>`
    select distinct on (merge_commit_sha) merge_commit_sha, number, url
    from pull_requests
    where org_id = ${repository.org_id}
      and provider = ${repository.provider}
      and repository_id = ${repository.repository_id}
      and state = 'merged'
      and merge_commit_sha = any(${commits as string[]})
    order by merge_commit_sha, number
    limit ${commits.length}`
}
