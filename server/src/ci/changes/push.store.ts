import { createHash } from 'node:crypto'
import type { HostPush } from '../../codehosts/host-change.ts'
import type { HostSource } from '../../codehosts/host-event.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { buildAccountJson } from './pull-request.store.ts'

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
