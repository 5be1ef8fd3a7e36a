import { commitsBetween, refOf } from '../../hosts/history.ts'
import { pushedCommit } from '../objects/commit.ts'
import { wholeRepository } from '../objects/repository.ts'
import { pageUrl } from '../objects/urls.ts'
import type { Account, ActivityType, Commit, Repository } from '../types.ts'
import type { World } from '../webhooks/world.ts'
import { addCommit, type CommitFields, emailOf } from './commits.ts'
import { moveHead } from './pull-request-events.ts'

export type NewCommit = CommitFields & {
  /** The default branch by default; `refs/tags/…` pushes a tag. */
  branch?: string
  pusher?: string
  forced?: boolean
  /** Replaces the commits of the branch that come after this one. */
  onto?: string
  /** Further commits of the same push, oldest first. */
  then?: CommitFields[]
}

export const NO_COMMIT = '0'.repeat(40)

/** New commits on a branch, pushed. Returns the last one. */
export function push(world: World, repository: Repository, fields: NewCommit): Commit {
  const { branch = repository.default_branch, then = [], onto } = fields
  const ref = refOf(branch)
  const before = repository.refs.get(ref)
  const parent = onto ?? before ?? repository.refs.get(refOf(repository.default_branch))
  let commit = addCommit(world, repository, parent === undefined ? [] : [parent], fields)
  for (const next of then) commit = addCommit(world, repository, [commit.sha], next)
  const pusher = world.state.account(fields.pusher ?? commit.account?.login ?? 'ada')
  const isReplacing = onto !== undefined && before !== undefined && onto !== before
  const forced = fields.forced ?? isReplacing
  moveRef(world, repository, { ref, after: commit.sha, pusher, forced, type: forced ? 'force_push' : 'push' })
  return commit
}

type RefMove = { ref: string; after: string | null; pusher: Account; forced?: boolean; type: ActivityType }

/** Points a branch to another commit, or deletes it. Open pull requests follow their branch. */
export function moveRef(world: World, repository: Repository, move: RefMove): void {
  const { ref, after, pusher, type } = move
  const before = repository.refs.get(ref) ?? null
  const known = before ?? repository.refs.get(refOf(repository.default_branch))
  const commits = after === null ? [] : commitsBetween(repository, known, after)
  const pushed = commits.filter(({ sha }) => !isOnOtherBranch(repository, ref, sha)).map(({ sha }) => sha)
  if (after === null) repository.refs.delete(ref)
  else repository.refs.set(ref, after)
  repository.pushed_at = world.now()
  const activity_type = after === null ? 'branch_deletion' : before === null ? 'branch_creation' : type
  repository.activities.unshift({ id: world.state.newId(), ref, before, after, activity_type, pusher, at: world.now() })
  emitPush(world, repository, { ...move, before, commits, isNew: ({ sha }) => pushed.includes(sha) })
  if (after !== null) moveHeads(world, repository, ref, after)
}

function isOnOtherBranch(repository: Repository, ref: string, sha: string): boolean {
  return [...repository.refs].some(([name, tip]) => name !== ref && tip === sha)
}

function moveHeads(world: World, repository: Repository, ref: string, sha: string): void {
  const commit = repository.commits.get(sha)
  for (const pullRequest of repository.pullRequests) {
    const isOpen = pullRequest.state === 'open'
    if (isOpen && commit && refOf(pullRequest.head.ref) === ref) moveHead(world, repository, pullRequest, commit)
  }
}

type Pushed = RefMove & { before: string | null; commits: Commit[]; isNew: (commit: Commit) => boolean }

function emitPush(world: World, repository: Repository, pushed: Pushed): void {
  const { ref, before, after, commits, isNew, pusher, forced = false } = pushed
  const from = before ?? NO_COMMIT
  const to = after ?? NO_COMMIT
  const head = after === null ? undefined : repository.commits.get(after)
  const fields = {
    ref,
    before: from,
    after: to,
    base_ref: null,
    created: before === null,
    deleted: after === null,
    forced: forced || after === null,
    compare: `${pageUrl(world, repository)}/compare/${from.slice(0, 12)}...${to.slice(0, 12)}`,
    commits: commits.map((commit) => pushedCommit(world, repository, commit, isNew(commit))),
    head_commit: head === undefined ? null : pushedCommit(world, repository, head, isNew(head)),
    repository: pushedRepository(world, repository),
    pusher: { name: pusher.login, email: emailOf(pusher) },
  }
  world.emit(repository, { event: 'push', action: null, sender: pusher, fields })
}

/** Pushes are the only events in which the times of the repository are numbers of seconds. */
function pushedRepository(world: World, repository: Repository) {
  const created_at = repository.created_at.getTime() / 1000
  const pushed_at = repository.pushed_at.getTime() / 1000
  return { ...wholeRepository(world, repository), created_at, pushed_at }
}
