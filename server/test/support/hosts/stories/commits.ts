import { createHash } from 'node:crypto'
import { commitsBetween, refOf } from '../history.ts'
import type { Account, Commit, PullRequest, Repository } from '../types.ts'
import type { World } from '../world.ts'

export type CommitFields = {
  message?: string
  /** Login of the author; null: the address of the author belongs to no account. */
  author?: string | null
  /** Login of the committer, the author by default. */
  committer?: string | null
  signature?: string
  /** Files that the commit adds or changes; null removes one. */
  files?: Record<string, string | null>
}

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

/** Adds a commit to the files of its first parent. No branch has it yet. */
export function addCommit(world: World, repository: Repository, parents: string[], fields: CommitFields): Commit {
  const { message = 'Change the shop', author = 'ada', committer = author, files = {} } = fields
  const account = author === null ? null : world.account(author)
  const committerAccount = committer === null ? null : world.account(committer)
  const commit: Commit = {
    sha: createHash('sha1').update(`${world.newIds().uuid} ${message}`).digest('hex'),
    message,
    author: personOf(account),
    account,
    committer: personOf(committerAccount),
    committerAccount,
    signature: fields.signature ?? 'unsigned',
    at: world.now(),
    parents,
    files: withChanges(repository.commits.get(parents[0] ?? '')?.files, files),
    changed: Object.keys(files),
  }
  repository.commits.set(commit.sha, commit)
  return commit
}

function personOf(account: Account | null): Commit['author'] {
  if (account === null) return { name: 'Unknown', email: 'unknown@example.com' }
  return { name: account.name ?? account.login, email: account.email }
}

function withChanges(before: Commit['files'] | undefined, changes: Record<string, string | null>): Commit['files'] {
  const files = new Map(before)
  for (const [path, text] of Object.entries(changes)) {
    if (text === null) files.delete(path)
    else files.set(path, text)
  }
  return files
}

/** New commits on a branch, pushed. Returns the last one. */
export function push(world: World, repository: Repository, fields: NewCommit): Commit {
  const { branch = repository.default_branch, then = [], onto } = fields
  const ref = refOf(branch)
  const before = repository.refs.get(ref)
  const parent = onto ?? before ?? repository.refs.get(refOf(repository.default_branch))
  let commit = addCommit(world, repository, parent === undefined ? [] : [parent], fields)
  for (const next of then) commit = addCommit(world, repository, [commit.sha], next)
  const pusher = world.account(fields.pusher ?? commit.account?.login ?? 'ada')
  const forced = fields.forced ?? (onto !== undefined && before !== undefined && onto !== before)
  moveRef(world, repository, { ref, after: commit.sha, pusher, forced })
  return commit
}

type RefMove = { ref: string; after: string | null; pusher: Account; forced?: boolean; merge?: PullRequest }

/** Points a branch to another commit, or deletes it. Open pull requests follow their branch. */
export function moveRef(world: World, repository: Repository, move: RefMove): void {
  const { ref, after, pusher, forced = false, merge = null } = move
  const before = repository.refs.get(ref) ?? null
  const known = before ?? repository.refs.get(refOf(repository.default_branch))
  const commits = after === null ? [] : commitsBetween(repository, known, after)
  if (after === null) repository.refs.delete(ref)
  else repository.refs.set(ref, after)
  const at = world.now()
  repository.pushed_at = at
  const made = { ...world.newIds(), ref, before, after, forced, pusher, commits, merge, at }
  repository.pushes.push(made)
  world.emit({ type: 'push', repository, by: pusher, push: made })
  if (after !== null) moveHeads(world, repository, ref, after)
}

function moveHeads(world: World, repository: Repository, ref: string, sha: string): void {
  for (const pullRequest of repository.pullRequests) {
    if (pullRequest.state !== 'open' || refOf(pullRequest.head.ref) !== ref) continue
    const from = pullRequest.head.sha
    pullRequest.head = { ...pullRequest.head, sha }
    pullRequest.updated_at = world.now()
    world.emit({ type: 'pull_request', action: 'pushed', repository, by: pullRequest.author, from, pullRequest })
  }
}
