import type { Db } from '../../platform/db/sql.ts'

type Account = { id: string; login: string; is_bot: boolean }

/** What a code host says about a change. Times are formatted as in the API. */
export type ChangeFacts = {
  pull_request: {
    number: number
    title: string
    url: string | null
    author: Account | null
    state: 'open' | 'closed' | 'merged'
    draft: boolean
    head_sha: string
    base_ref: string
    merge_commit_sha: string | null
    merged_by: Account | null
    created_at: string
    merged_at: string | null
  } | null
  /** Newest first. `stale`: commits followed the one that was reviewed. */
  reviews: {
    reviewer: Account | null
    state: 'approved' | 'changes_requested' | 'commented' | 'dismissed'
    commit_sha: string | null
    stale: boolean
    submitted_at: string
  }[]
  /** The newest result of each check of the commit, by name. */
  checks: { name: string; source: string; status: string; url: string | null; completed_at: string | null }[]
}

type ChangeKey = {
  org_id: string
  provider: string
  repository_id: string
  commit_sha: string
  /** The number of the pull request; null to find it by the commit. */
  pull_request: number | null
}

const REVIEWS_MAX = 1000
const CHECKS_MAX = 1000

/**
 * What the code host says about a commit: its checks, and its pull request with the reviews. The
 * pull request of a commit is the one that its merge created, else one whose newest commit it
 * was.
 */
export async function findChangeFacts(db: Db, key: ChangeKey): Promise<ChangeFacts> {
  const [row] = await db<[ChangeFacts]>`
    with pull_request as (${buildPullRequest(db, key)})
    select
      (
        select json_build_object(
          'number', number, 'title', title, 'url', url, 'author', author, 'state', state, 'draft', draft,
          'head_sha', head_sha, 'base_ref', base_ref, 'merge_commit_sha', merge_commit_sha, 'merged_by', merged_by,
          'created_at', rfc3339(created_at), 'merged_at', rfc3339(merged_at)
        )
        from pull_request
      ) as pull_request,
      ${reviewsJson(db, key)} as reviews,
      ${checksJson(db, key)} as checks`
  return row
}

function buildPullRequest(db: Db, { org_id, provider, repository_id, commit_sha, pull_request }: ChangeKey) {
  const named =
    pull_request === null
      ? db`(
          (state = 'merged' and merge_commit_sha = ${commit_sha})
          or number in (
            select head.pull_request
            from pull_request_heads head
            where head.org_id = ${org_id}
              and head.provider = ${provider}
              and head.repository_id = ${repository_id}
              and head.commit_sha = ${commit_sha}
          )
        )`
      : db`number = ${pull_request}`
  return db`
    select number, title, url, author, state, draft, head_sha, base_ref, merge_commit_sha, merged_by, created_at,
      merged_at
    from pull_requests
    where org_id = ${org_id}
      and provider = ${provider}
      and repository_id = ${repository_id}
      and ${named}
    order by merge_commit_sha is not distinct from ${commit_sha} desc, state = 'open' desc, number desc
    limit 1`
}

function reviewsJson(db: Db, { org_id, provider, repository_id }: ChangeKey) {
  return db`(
    select coalesce(json_agg(
      json_build_object(
        'reviewer', reviewer, 'state', state, 'commit_sha', commit_sha, 'stale', stale,
        'submitted_at', rfc3339(submitted_at)
      )
      order by submitted_at desc, id
    ), '[]')
    from (
      select review.id, review.reviewer, review.state, review.commit_sha, review.submitted_at,
        review.commit_sha is distinct from pull_request.head_sha as stale
      from pull_request_reviews review
      join pull_request on pull_request.number = review.pull_request
      where review.org_id = ${org_id}
        and review.provider = ${provider}
        and review.repository_id = ${repository_id}
      order by review.submitted_at desc, review.id
      limit ${REVIEWS_MAX}
    ) review
  )`
}

function checksJson(db: Db, { org_id, provider, repository_id, commit_sha }: ChangeKey) {
  return db`(
    select coalesce(json_agg(
      json_build_object(
        'name', name, 'source', source, 'status', status, 'url', url, 'completed_at', rfc3339(completed_at)
      )
      order by name, source
    ), '[]')
    from (
      select distinct on (name, source) name, source, status, url, completed_at
      from commit_checks
      where org_id = ${org_id}
        and provider = ${provider}
        and repository_id = ${repository_id}
        and commit_sha = ${commit_sha}
      order by name, source, host_version desc
      limit ${CHECKS_MAX}
    ) result
  )`
}

/** Whether the code host has reported a push of a commit to a branch. */
export async function isPushedTo(
  db: Db,
  { org_id, provider, repository_id, commit_sha }: Omit<ChangeKey, 'pull_request'>,
  branch: string,
): Promise<boolean> {
  const isOfBranch = db`branch_name(push.branch) = branch_name(${branch})`
  const rows = await db`
    (
      select
      from pushes push
      where (push.org_id, push.provider, push.repository_id, push.after_sha)
        = (${org_id}, ${provider}, ${repository_id}, ${commit_sha})
        and ${isOfBranch}
      limit 1
    )
    union all (
      select
      from pushed_commits pushed
      join pushes push
        on push.org_id = pushed.org_id
        and push.provider = pushed.provider
        and push.repository_id = pushed.repository_id
        and push.id = pushed.push_id
      where (pushed.org_id, pushed.provider, pushed.repository_id, pushed.sha)
        = (${org_id}, ${provider}, ${repository_id}, ${commit_sha})
        and ${isOfBranch}
      limit 1
    )
    limit 1`
  return rows.length > 0
}
