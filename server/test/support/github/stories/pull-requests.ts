import { refOf } from '../../hosts/history.ts'
import { reviewObject, simplePullRequest } from '../objects/pull-request.ts'
import type { PullRequest, Repository, Review } from '../types.ts'
import type { World } from '../webhooks/world.ts'
import { emitPullRequest } from './pull-request-events.ts'

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
    merged_onto: null,
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

export function close(world: World, repository: Repository, pullRequest: PullRequest, by: string): void {
  const at = world.now()
  Object.assign(pullRequest, { state: 'closed', closed_at: at, updated_at: at })
  emitPullRequest(world, repository, pullRequest, { action: 'closed', sender: world.state.account(by) })
}

export function reopen(world: World, repository: Repository, pullRequest: PullRequest, by: string): void {
  Object.assign(pullRequest, { state: 'open', closed_at: null, updated_at: world.now() })
  emitPullRequest(world, repository, pullRequest, { action: 'reopened', sender: world.state.account(by) })
}

export function retitle(world: World, repository: Repository, pullRequest: PullRequest, title: string): void {
  const changes = { title: { from: pullRequest.title } }
  Object.assign(pullRequest, { title, updated_at: world.now() })
  const { author: sender } = pullRequest
  emitPullRequest(world, repository, pullRequest, { action: 'edited', sender, fields: { changes } })
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
