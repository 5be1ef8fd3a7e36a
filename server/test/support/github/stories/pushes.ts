import { createHash } from 'node:crypto'
import { wholeRepository } from '../objects/repository.ts'
import { pageUrl } from '../objects/urls.ts'
import type { Account, Commit, Repository } from '../types.ts'
import type { World } from '../webhooks/world.ts'
import { moveHead, refOf } from './pull-request-events.ts'

export type NewCommit = {
  /** `main` by default; `refs/tags/…` pushes a tag. */
  branch?: string
  message?: string
  /** Login of the author; null: the address of the author belongs to no account. */
  author?: string | null
  pusher?: string
  /** Files that the commit adds or changes; null removes one. */
  files?: Record<string, string | null>
  forced?: boolean
}

const NO_COMMIT = '0'.repeat(40)

/** One commit on a branch, pushed. */
export function push(world: World, repository: Repository, fields: NewCommit): Commit {
  const ref = refOf(fields.branch ?? repository.default_branch)
  const before = repository.refs.get(ref)
  const commit = addCommit(world, repository, fields, before ?? repository.refs.get(refOf(repository.default_branch)))
  repository.refs.set(ref, commit.sha)
  repository.pushed_at = world.now()
  const pusher = world.state.account(fields.pusher ?? commit.account?.login ?? 'ada')
  emitPush(world, repository, { ref, before, commit, pusher, forced: fields.forced ?? false })
  for (const pullRequest of repository.pullRequests) {
    const isOpen = pullRequest.state === 'open'
    if (isOpen && refOf(pullRequest.head.ref) === ref) moveHead(world, repository, pullRequest, commit)
  }
  return commit
}

function addCommit(world: World, repository: Repository, fields: NewCommit, parent: string | undefined): Commit {
  const message = fields.message ?? 'Change the shop'
  const account = fields.author === null ? null : world.state.account(fields.author ?? 'ada')
  const name = account?.name ?? account?.login ?? 'Unknown'
  const changed = fields.files ?? {}
  const files = new Map(parent === undefined ? [] : repository.commits.get(parent)?.files)
  for (const [path, text] of Object.entries(changed)) {
    if (text === null) files.delete(path)
    else files.set(path, text)
  }
  const sha = createHash('sha1').update(`${world.state.newId()} ${message}`).digest('hex')
  const author = { name, email: account?.email ?? `${(account?.login ?? name).toLowerCase()}@example.com` }
  const parents = parent === undefined ? [] : [parent]
  const commit = { sha, message, author, account, at: world.now(), parents, files, changed: Object.keys(changed) }
  repository.commits.set(sha, commit)
  return commit
}

function emitPush(
  world: World,
  repository: Repository,
  pushed: { ref: string; before: string | undefined; commit: Commit; pusher: Account; forced: boolean },
): void {
  const { ref, before = NO_COMMIT, commit, pusher, forced } = pushed
  const author = { ...commit.author, ...(commit.account === null ? {} : { username: commit.account.login }) }
  const object = {
    id: commit.sha,
    tree_id: commit.sha,
    distinct: true,
    message: commit.message,
    timestamp: commit.at,
    url: `${pageUrl(world, repository)}/commit/${commit.sha}`,
    author,
    committer: author,
    added: commit.changed.filter((path) => commit.files.has(path)),
    removed: commit.changed.filter((path) => !commit.files.has(path)),
    modified: [],
  }
  const fields = {
    ref,
    before,
    after: commit.sha,
    base_ref: null,
    created: before === NO_COMMIT,
    deleted: false,
    forced,
    compare: `${pageUrl(world, repository)}/compare/${before.slice(0, 12)}...${commit.sha.slice(0, 12)}`,
    commits: [object],
    head_commit: object,
    repository: pushedRepository(world, repository),
    pusher: { name: pusher.login, email: pusher.email ?? `${pusher.login}@example.com` },
  }
  world.emit(repository, { event: 'push', action: null, sender: pusher, fields })
}

/** Pushes are the only events in which the times of the repository are numbers of seconds. */
function pushedRepository(world: World, repository: Repository) {
  const created_at = repository.created_at.getTime() / 1000
  const pushed_at = repository.pushed_at.getTime() / 1000
  return { ...wholeRepository(world, repository), created_at, pushed_at }
}
