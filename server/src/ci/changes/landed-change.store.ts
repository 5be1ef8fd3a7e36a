import type { HostAccount } from '../../codehosts/host-repository.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { RepositoryKey } from '../../repositories/repository-identity.ts'

type Account = Pick<HostAccount, 'id' | 'login' | 'is_bot'>

/** A pull request, as far as a change record needs it. */
export type LandedPullRequest = {
  number: number
  title: string
  url: string | null
  author: Account | null
  state: 'open' | 'closed' | 'merged'
  head_ref: string
  head_sha: string
  /** Null if the repository of the head was deleted. */
  head_repository_id: string | null
  base_ref: string
  base_sha: string
  merge_commit_sha: string | null
  merged_by: Account | null
  merged_by_queue: boolean
  created_at: Date
  merged_at: Date | null
}

export async function findPullRequest(
  db: Db,
  { org_id, provider, repository_id }: RepositoryKey,
  number: number,
): Promise<LandedPullRequest | null> {
  const [row] = await db<LandedPullRequest[]>`
    select number, title, url, author, state, head_ref, head_sha, head_repository_id, base_ref, base_sha,
      merge_commit_sha, merged_by, merged_by_queue, created_at, merged_at
    from pull_requests
    where org_id = ${org_id}
      and provider = ${provider}
      and repository_id = ${repository_id}
      and number = ${number}`
  return row ?? null
}

/** A merged pull request with every commit that was its newest. */
export type MergedPullRequest = { number: number; merge_commit_sha: string | null; heads: string[] }

const PULL_REQUESTS_MAX = 200

/** The pull requests that were merged into a branch with one of the given commits. */
export async function listMergedWith(
  db: Db,
  { org_id, provider, repository_id }: RepositoryKey,
  branch: string,
  shas: readonly string[],
): Promise<MergedPullRequest[]> {
  return db<MergedPullRequest[]>`
    select pull.number, pull.merge_commit_sha,
      array(
        select head.commit_sha
        from pull_request_heads head
        where head.org_id = pull.org_id
          and head.provider = pull.provider
          and head.repository_id = pull.repository_id
          and head.pull_request = pull.number
          and head.commit_sha = any(${shas as string[]})
        order by head.commit_sha
      ) as heads
    from pull_requests pull
    where pull.org_id = ${org_id}
      and pull.provider = ${provider}
      and pull.repository_id = ${repository_id}
      and pull.state = 'merged'
      and pull.base_ref = ${branch}
      and (
        pull.merge_commit_sha = any(${shas as string[]})
        or pull.number in (
          select head.pull_request
          from pull_request_heads head
          where head.org_id = ${org_id}
            and head.provider = ${provider}
            and head.repository_id = ${repository_id}
            and head.commit_sha = any(${shas as string[]})
        )
      )
    order by pull.number
    limit ${PULL_REQUESTS_MAX}`
}

/** A push to the tracked branch. */
export type LandedPush = {
  id: string
  branch: string
  before_sha: string | null
  after_sha: string
  forced: boolean
  by_merge_queue: boolean
  pusher: Account | null
  pushed_at: Date
}

export async function findPush(db: Db, repository: RepositoryKey, id: string): Promise<LandedPush | null> {
  const [row] = await db<LandedPush[]>`
    ${buildPushes(db, repository)}
      and id = ${id}`
  return row ?? null
}

/** The first push to a branch that contained a commit; null if no known push did. */
export async function findPushOfCommit(
  db: Db,
  repository: RepositoryKey,
  branch: string,
  sha: string,
): Promise<LandedPush | null> {
  const { org_id, provider, repository_id } = repository
  const [row] = await db<LandedPush[]>`
    ${buildPushes(db, repository)}
      and branch = ${branch}
      and (
        after_sha = ${sha}
        or id in (
          select pushed.push_id
          from pushed_commits pushed
          where pushed.org_id = ${org_id}
            and pushed.provider = ${provider}
            and pushed.repository_id = ${repository_id}
            and pushed.sha = ${sha}
        )
      )
    order by pushed_at, id
    limit 1`
  return row ?? null
}

function buildPushes(db: Db, { org_id, provider, repository_id }: RepositoryKey) {
  return db`
    select id, branch, before_sha, after_sha, forced, by_merge_queue, pusher, pushed_at
    from pushes
    where org_id = ${org_id}
      and provider = ${provider}
      and repository_id = ${repository_id}`
}

type Person = { name: string; email: string | null; login: string | null }

/** A commit of a push, as the event described it. */
export type PushedCommit = { sha: string; message: string; author: Person; committer: Person }

/** How many commits of a push are stored at most. */
export const PUSHED_COMMITS_MAX = 1000

/** The last commits of a push, oldest first. */
export async function listPushedCommits(
  db: Db,
  { org_id, provider, repository_id }: RepositoryKey,
  pushId: string,
): Promise<PushedCommit[]> {
  return db<PushedCommit[]>`
    select sha, message, author, committer
    from pushed_commits
    where org_id = ${org_id}
      and provider = ${provider}
      and repository_id = ${repository_id}
      and push_id = ${pushId}
    order by position
    limit ${PUSHED_COMMITS_MAX}`
}

/** A review. Times are formatted as in the API. */
export type LandedReview = {
  id: string
  reviewer: Account | null
  state: 'approved' | 'changes_requested' | 'commented' | 'dismissed'
  commit_sha: string | null
  submitted_at: string
}

const REVIEWS_MAX = 1000

/** The reviews of a pull request, oldest first. */
export async function listLandedReviews(
  db: Db,
  { org_id, provider, repository_id }: RepositoryKey,
  pullRequest: number,
): Promise<LandedReview[]> {
  return db<LandedReview[]>`
    select id, reviewer, state, commit_sha, rfc3339(submitted_at) as submitted_at
    from pull_request_reviews
    where org_id = ${org_id}
      and provider = ${provider}
      and repository_id = ${repository_id}
      and pull_request = ${pullRequest}
    order by submitted_at, id
    limit ${REVIEWS_MAX}`
}
