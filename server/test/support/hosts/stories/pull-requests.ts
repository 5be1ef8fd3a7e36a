import { refOf } from '../history.ts'
import type { PullRequest, Repository, Review } from '../types.ts'
import type { World } from '../world.ts'

export type NewPullRequest = {
  branch: string
  title?: string
  description?: string
  author?: string
  draft?: boolean
  base?: string
}

export function openPullRequest(world: World, repository: Repository, fields: NewPullRequest): PullRequest {
  const base = fields.base ?? repository.default_branch
  const at = world.now()
  const pullRequest: PullRequest = {
    ...world.newIds(),
    number: repository.pullRequests.length + 1,
    repository,
    title: fields.title ?? 'Change the shop',
    description: fields.description ?? '',
    author: world.account(fields.author ?? 'ada'),
    draft: fields.draft ?? false,
    state: 'open',
    head: { ref: fields.branch, sha: repository.refs.get(refOf(fields.branch)) ?? '' },
    base: { ref: base, sha: repository.refs.get(refOf(base)) ?? '' },
    merged_onto: null,
    merge_commit_sha: null,
    merge_method: null,
    merged_by: null,
    created_at: at,
    updated_at: at,
    merged_at: null,
    closed_at: null,
    closed_by: null,
    reviews: [],
  }
  repository.pullRequests.push(pullRequest)
  world.emit({ type: 'pull_request', action: 'opened', repository, by: pullRequest.author, pullRequest })
  return pullRequest
}

export function close(world: World, pullRequest: PullRequest, by: string): void {
  const at = world.now()
  Object.assign(pullRequest, { state: 'closed', closed_at: at, updated_at: at, closed_by: world.account(by) })
  emitPullRequest(world, pullRequest, 'closed', by)
}

export function reopen(world: World, pullRequest: PullRequest, by: string): void {
  Object.assign(pullRequest, { state: 'open', closed_at: null, closed_by: null, updated_at: world.now() })
  emitPullRequest(world, pullRequest, 'reopened', by)
}

export function retitle(world: World, pullRequest: PullRequest, title: string): void {
  const { title: from, repository, author: by } = pullRequest
  Object.assign(pullRequest, { title, updated_at: world.now() })
  world.emit({ type: 'pull_request', action: 'edited', repository, by, from, pullRequest })
}

export function emitPullRequest(
  world: World,
  pullRequest: PullRequest,
  action: 'closed' | 'reopened' | 'merged',
  by: string,
): void {
  const { repository } = pullRequest
  world.emit({ type: 'pull_request', action, repository, by: world.account(by), pullRequest })
}

export function reviewPullRequest(
  world: World,
  pullRequest: PullRequest,
  fields: { by: string; state: Review['state']; body?: string },
): Review {
  const { by, state, body = '' } = fields
  const at = world.now()
  const made = { user: world.account(by), state, body, commit_id: pullRequest.head.sha, submitted_at: at }
  const review: Review = { ...world.newIds(), ...made }
  pullRequest.reviews.push(review)
  pullRequest.updated_at = at
  emitReview(world, pullRequest, review, 'submitted')
  return review
}

/** The review no longer counts: an approval is withdrawn, or an administrator dismissed it. */
export function dismissReview(world: World, pullRequest: PullRequest, review: Review): void {
  review.state = 'dismissed'
  pullRequest.updated_at = world.now()
  emitReview(world, pullRequest, review, 'dismissed')
}

function emitReview(world: World, pullRequest: PullRequest, review: Review, action: 'submitted' | 'dismissed'): void {
  world.emit({ type: 'review', action, repository: pullRequest.repository, by: review.user, pullRequest, review })
}
