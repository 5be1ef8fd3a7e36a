import type { Commit, Push, Repository } from '../../hosts/types.ts'
import { NO_COMMIT, pushedCommit } from '../objects/commit.ts'
import { reviewObject, simplePullRequest, wholePullRequest } from '../objects/pull-request.ts'
import { wholeRepository } from '../objects/repository.ts'
import { pageUrl } from '../objects/urls.ts'
import type { GitHubWorld } from '../world.ts'
import type { Of } from './send-events.ts'

export function sendPush(world: GitHubWorld, { repository, push, by: sender }: Of<'push'>): void {
  const { ref, before, after, commits, pusher, forced } = push
  const from = before ?? NO_COMMIT
  const to = after ?? NO_COMMIT
  const head = after === null ? undefined : repository.commits.get(after)
  const shown = (commit: Commit) => pushedCommit(world, repository, commit, isNew(repository, push, commit))
  const fields = {
    ref,
    before: from,
    after: to,
    base_ref: null,
    created: before === null,
    deleted: after === null,
    forced: forced || after === null,
    compare: `${pageUrl(world, repository)}/compare/${from.slice(0, 12)}...${to.slice(0, 12)}`,
    commits: commits.map(shown),
    head_commit: head === undefined ? null : shown(head),
    repository: pushedRepository(world, repository),
    pusher: { name: pusher.login, email: pusher.email },
  }
  world.send(repository, { event: 'push', action: null, sender, fields })
}

/** Whether no other branch had the commit before. */
function isNew({ refs }: Repository, { ref, commits }: Push, { sha }: Commit): boolean {
  return commits.some((commit) => commit.sha === sha) && ![...refs].some(([name, tip]) => name !== ref && tip === sha)
}

/** Pushes are the only events in which the times of the repository are numbers of seconds. */
function pushedRepository(world: GitHubWorld, repository: Repository) {
  const created_at = repository.created_at.getTime() / 1000
  const pushed_at = repository.pushed_at.getTime() / 1000
  return { ...wholeRepository(world, repository), created_at, pushed_at }
}

const ACTIONS = {
  opened: 'opened',
  pushed: 'synchronize',
  edited: 'edited',
  closed: 'closed',
  reopened: 'reopened',
  merged: 'closed',
  enqueued: 'enqueued',
  dequeued: 'dequeued',
} as const

type PullRequestEvent = Omit<Of<'pull_request'>, 'type' | 'action'> & { action: keyof typeof ACTIONS }

export function sendPullRequest(world: GitHubWorld, change: PullRequestEvent): void {
  const { repository, pullRequest, action, from, by: sender } = change
  const { number, head } = pullRequest
  const changed = {
    ...(action === 'pushed' && { before: from, after: head.sha }),
    ...(action === 'edited' && { changes: { title: { from } } }),
    ...(action === 'dequeued' && { reason: 'MANUAL' }),
  }
  const fields = { number, pull_request: wholePullRequest(world, repository, pullRequest), ...changed }
  world.send(repository, { event: 'pull_request', action: ACTIONS[action], sender, fields })
}

export function sendReview(world: GitHubWorld, change: Of<'review'>): void {
  const { repository, pullRequest, review, action, by: sender } = change
  const object = { ...reviewObject(world, repository, pullRequest, review), state: review.state }
  const fields = { review: object, pull_request: simplePullRequest(world, repository, pullRequest) }
  world.send(repository, { event: 'pull_request_review', action, sender, fields })
}
