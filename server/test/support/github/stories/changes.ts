import { createHash } from 'node:crypto'
import { reviewObject, simplePullRequest, wholePullRequest } from '../objects/pull-request.ts'
import { pageUrl } from '../objects/urls.ts'
import type { Account, Commit, PullRequest, Repository, Review } from '../types.ts'
import type { World } from '../webhooks/world.ts'

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
  for (const pullRequest of repository.pullRequests.filter(
    ({ head, state }) => refOf(head.ref) === ref && state === 'open',
  )) {
    moveHead(world, repository, pullRequest, commit)
  }
  return commit
}

function refOf(branch: string): string {
  return branch.startsWith('refs/') ? branch : `refs/heads/${branch}`
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
  const author = { name, email: account?.email ?? `${name.toLowerCase()}@example.com` }
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
    pusher: { name: pusher.login, email: pusher.email ?? `${pusher.login}@example.com` },
  }
  world.emit(repository, { event: 'push', action: null, sender: pusher, fields })
}

export function openPullRequest(
  world: World,
  repository: Repository,
  fields: { branch: string; title?: string; author?: string; draft?: boolean; base?: string },
): PullRequest {
  const base = fields.base ?? repository.default_branch
  const at = world.now()
  const pullRequest: PullRequest = {
    id: world.state.newId(),
    number: repository.pullRequests.length + 1,
    title: fields.title ?? 'Change the shop',
    author: world.state.account(fields.author ?? 'ada'),
    draft: fields.draft ?? false,
    state: 'open',
    head: { ref: fields.branch, sha: repository.refs.get(refOf(fields.branch)) ?? '' },
    base: { ref: base, sha: repository.refs.get(refOf(base)) ?? '' },
    merge_commit_sha: null,
    merged_by: null,
    created_at: at,
    updated_at: at,
    merged_at: null,
    closed_at: null,
    reviews: [],
  }
  repository.pullRequests.push(pullRequest)
  emitPullRequest(world, repository, pullRequest, { action: 'opened', sender: pullRequest.author })
  return pullRequest
}

function moveHead(world: World, repository: Repository, pullRequest: PullRequest, commit: Commit): void {
  const before = pullRequest.head.sha
  pullRequest.head = { ...pullRequest.head, sha: commit.sha }
  pullRequest.updated_at = world.now()
  const fields = { before, after: commit.sha }
  emitPullRequest(world, repository, pullRequest, { action: 'synchronize', sender: pullRequest.author, fields })
}

function emitPullRequest(
  world: World,
  repository: Repository,
  pullRequest: PullRequest,
  { action, sender, fields = {} }: { action: string; sender: Account; fields?: object },
): void {
  const pull_request = wholePullRequest(world, repository, pullRequest)
  const about = { number: pullRequest.number, pull_request, ...fields }
  world.emit(repository, { event: 'pull_request', action, sender, fields: about })
}

/** Merges by a merge commit on the base branch. */
export function merge(world: World, repository: Repository, pullRequest: PullRequest, by: string): Commit {
  const message = `Merge pull request #${pullRequest.number} from ${repository.owner.login}/${pullRequest.head.ref}\n\n${pullRequest.title}`
  const files = Object.fromEntries(repository.commits.get(pullRequest.head.sha)?.files ?? [])
  const at = world.now()
  const { base } = pullRequest
  const commit = push(world, repository, { branch: base.ref, message, author: by, pusher: by, files })
  const merger = world.state.account(by)
  Object.assign(pullRequest, { merge_commit_sha: commit.sha, merged_by: merger, merged_at: at })
  close(world, repository, pullRequest, by)
  return commit
}

export function close(world: World, repository: Repository, pullRequest: PullRequest, by: string): void {
  const at = world.now()
  Object.assign(pullRequest, { state: 'closed', closed_at: at, updated_at: at })
  emitPullRequest(world, repository, pullRequest, { action: 'closed', sender: world.state.account(by) })
}

export function reviewPullRequest(
  world: World,
  repository: Repository,
  pullRequest: PullRequest,
  fields: { by: string; state: Review['state']; body?: string },
): Review {
  const review: Review = {
    id: world.state.newId(),
    user: world.state.account(fields.by),
    state: fields.state,
    body: fields.body ?? '',
    commit_id: pullRequest.head.sha,
    submitted_at: world.now(),
  }
  pullRequest.reviews.push(review)
  emitReview(world, repository, pullRequest, review, 'submitted')
  return review
}

/** A dismissed review no longer counts. */
export function dismissReview(world: World, repository: Repository, pullRequest: PullRequest, review: Review): void {
  review.state = 'dismissed'
  emitReview(world, repository, pullRequest, review, 'dismissed')
}

function emitReview(
  world: World,
  repository: Repository,
  pullRequest: PullRequest,
  review: Review,
  action: string,
): void {
  pullRequest.updated_at = world.now()
  const object = { ...reviewObject(world, repository, pullRequest, review), state: review.state }
  const fields = { review: object, pull_request: simplePullRequest(world, repository, pullRequest) }
  world.emit(repository, { event: 'pull_request_review', action, sender: review.user, fields })
}
