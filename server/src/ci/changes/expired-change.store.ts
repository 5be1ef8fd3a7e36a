import type { ExpiringTable } from '../../platform/db/expiring-rows.ts'
import type { Db } from '../../platform/db/sql.ts'

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
