import { createHash } from 'node:crypto'
import type { HostPullRequest, HostPush, HostReview } from '../../codehosts/host-change.ts'
import type { HostSource } from '../../codehosts/host-event.ts'
import type { HostAccount } from '../../codehosts/host-repository.ts'
import { getStatusOrder, type HostCheck } from '../../codehosts/host-run.ts'
import { buildIsNewer } from '../../codehosts/host-version.store.ts'
import { computeHostVersion } from '../../codehosts/host-version.ts'
import type { ExpiringTable } from '../../platform/db/expiring-rows.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'

/** SQL: whether the version of an upsert replaces the stored one. */
function isNewer(tx: Tx) {
  return buildIsNewer(tx, tx`excluded.host_version`, tx`stored.host_version`)
}

const STATES: HostPullRequest['state'][] = ['open', 'closed', 'merged']

/** Stores a pull request, unless a newer version of it is stored. */
export async function upsertPullRequest(tx: Tx, source: HostSource, pull: HostPullRequest): Promise<void> {
  const { repository, ...content } = pull
  const { updated_at, state } = pull
  const version = computeHostVersion({ updated_at, state: STATES.indexOf(state), content, learned: source.learned })
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
    where ${isNewer(tx)}`
  await tx`
    insert into pull_request_heads (org_id, provider, repository_id, commit_sha, pull_request)
    values (${source.org_id}, ${source.provider}, ${repository.id}, ${pull.head.sha}, ${pull.number})
    on conflict do nothing`
}

/** Stores a review, unless a newer version of it is stored. Told, a dismissal is final. */
export async function upsertReview(tx: Tx, source: HostSource, review: HostReview): Promise<void> {
  const { repository, ...content } = review
  const state = review.state === 'dismissed' ? 1 : 0
  const version = computeHostVersion({ updated_at: null, state, content, learned: source.learned })
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
    where ${isNewer(tx)}`
}

/** What is kept of an account: who it is, and whether it is a person. */
function buildAccountJson(tx: Tx, account: HostAccount | null) {
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

const COMMITS_MAX = 1000
const MESSAGE_CHARS_MAX = 4000

/** A push that left commits on a branch. */
type BranchPush = HostPush & { branch: string; after: string }

/**
 * Stores a push with its last commits, which only the webhook has. A webhook and a list of the host
 * can give slightly different times; the earlier one is kept.
 */
export async function insertPush(tx: Tx, source: HostSource, push: BranchPush): Promise<void> {
  const id = buildPushId(push)
  await tx`
    insert into pushes as stored (
      org_id, provider, repository_id, id, branch, before_sha, after_sha, forced, by_merge_queue, pusher, pushed_at
    )
    values (
      ${source.org_id}, ${source.provider}, ${push.repository.id}, ${id}, ${push.branch}, ${push.before}, ${push.after},
      ${push.forced}, ${push.by_merge_queue}, ${buildAccountJson(tx, push.pusher)}, ${push.pushed_at}
    )
    on conflict (org_id, provider, repository_id, id) do update
    set pushed_at = excluded.pushed_at
    where excluded.pushed_at < stored.pushed_at`
  await insertCommits(tx, source, push, id)
}

async function insertCommits(tx: Tx, source: HostSource, push: BranchPush, id: string): Promise<void> {
  const commits = push.commits.slice(-COMMITS_MAX).map((commit, index) => ({
    ...commit,
    message: commit.message.slice(0, MESSAGE_CHARS_MAX).toWellFormed(),
    position: index + 1,
  }))
  await tx`
    insert into pushed_commits (
      org_id, provider, repository_id, push_id, position, sha, message, author, committer, at
    )
    select ${source.org_id}, ${source.provider}, ${push.repository.id}, ${id}, position, sha, message, author,
      committer, at
    from json_to_recordset(${tx.json(commits as never)}::json) as given (
      position smallint, sha text, message text, author jsonb, committer jsonb, at timestamptz
    )
    on conflict do nothing`
}

/**
 * Hosts give pushes no id, so theirs is derived from what happened. A push that repeats an earlier
 * one brings no new commit.
 */
export function buildPushId({ ref, before, after }: HostPush): string {
  const facts = JSON.stringify([ref, before, after])
  return createHash('sha256').update(facts).digest('hex').slice(0, 32)
}

/** Stores a check of a commit, unless a newer version of it is stored. */
export async function upsertCheck(tx: Tx, source: HostSource, check: HostCheck): Promise<void> {
  const { repository, ...content } = check
  const at = check.completed_at ?? check.started_at
  const state = getStatusOrder(check.status)
  const version = computeHostVersion({ updated_at: at, state, content, learned: source.learned })
  await tx`
    insert into commit_checks as stored (
      org_id, provider, repository_id, commit_sha, id, host_version, name, source, status, url, started_at, completed_at
    )
    values (
      ${source.org_id}, ${source.provider}, ${repository.id}, ${check.commit_sha}, ${check.id}, ${version},
      ${check.name}, ${check.source}, ${check.status}, ${check.url}, ${check.started_at}, ${check.completed_at}
    )
    on conflict (org_id, provider, repository_id, commit_sha, id) do update
    set host_version = excluded.host_version, name = excluded.name, source = excluded.source,
      status = excluded.status, url = excluded.url, started_at = excluded.started_at,
      completed_at = excluded.completed_at
    where ${isNewer(tx)}`
}

/** Pull requests that were closed or merged, with their reviews. Open ones stay. */
const PULL_REQUESTS: ExpiringTable = {
  kind: 'pull_requests',
  table: 'pull_requests',
  key: ['provider', 'repository_id', 'number'],
  order: 'updated_at',
  isExpired: (db, { before }) => db`item.updated_at < ${before} and item.state <> 'open'`,
  parts: [
    { table: 'pull_request_heads', columns: ['provider', 'repository_id', 'pull_request'] },
    { table: 'pull_request_reviews', columns: ['provider', 'repository_id', 'pull_request'] },
  ],
}

/** Reviews of pull requests that are not stored. */
const REVIEWS: ExpiringTable = {
  kind: 'pull_request_reviews',
  table: 'pull_request_reviews',
  key: ['provider', 'repository_id', 'id'],
  order: 'submitted_at',
  isExpired: (db, { before }) => db`
    item.submitted_at < ${before}
    and not exists (
      select from pull_requests pull
      where pull.org_id = item.org_id
        and pull.provider = item.provider
        and pull.repository_id = item.repository_id
        and pull.number = item.pull_request
    )`,
}

const PUSHES: ExpiringTable = {
  kind: 'pushes',
  table: 'pushes',
  key: ['provider', 'repository_id', 'id'],
  order: 'pushed_at',
  isExpired: (db, { before }) => db`item.pushed_at < ${before}`,
  parts: [{ table: 'pushed_commits', columns: ['provider', 'repository_id', 'push_id'] }],
}

/** Checks that have ended, and those that never did. */
const CHECKS: readonly ExpiringTable[] = [
  checksBy('completed_at', (db) => db`item.completed_at is not null`),
  checksBy('started_at', (db) => db`item.completed_at is null`),
]

/** The checks of a pull request's commits stay while the pull request does. */
function checksBy(order: string, condition: (db: Db) => ReturnType<Db>): ExpiringTable {
  return {
    kind: 'commit_checks',
    table: 'commit_checks',
    key: ['provider', 'repository_id', 'commit_sha', 'id'],
    order,
    isExpired: (db, { before }) => db`
      ${condition(db)}
      and item.${db(order)} < ${before}
      and not exists (
        select from pull_request_heads head
        where head.org_id = item.org_id
          and head.provider = item.provider
          and head.repository_id = item.repository_id
          and head.commit_sha = item.commit_sha
      )`,
  }
}

/** What code hosts have said about changes. Each row is of a repository of a provider. */
export const EXPIRED_CHANGES: readonly ExpiringTable[] = [PULL_REQUESTS, REVIEWS, PUSHES, ...CHECKS]
