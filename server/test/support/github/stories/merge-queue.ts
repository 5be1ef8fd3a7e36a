import { refOf } from '../../hosts/history.ts'
import { moveRef } from '../../hosts/stories/commits.ts'
import { type Merge, mergeOnto, setMerged } from '../../hosts/stories/merges.ts'
import { emitPullRequest } from '../../hosts/stories/pull-requests.ts'
import type { Account, Commit, MergeGroup, PullRequest, Repository } from '../../hosts/types.ts'
import { QUEUE_BOT } from '../objects/activity.ts'
import { sendPullRequest } from '../webhooks/change-events.ts'
import type { GitHubWorld } from '../world.ts'

/**
 * Adds a pull request to the merge queue of its base branch: GitHub makes the branch of its group.
 */
export function enqueue(world: GitHubWorld, pullRequest: PullRequest, { by, method }: Merge): MergeGroup {
  const { repository } = pullRequest
  sendPullRequest(world, { repository, pullRequest, action: 'enqueued', by: world.account(by) })
  return createGroup(world, pullRequest, { by, method })
}

function createGroup(world: GitHubWorld, pullRequest: PullRequest, { by, method }: Merge): MergeGroup {
  const { repository, base, number } = pullRequest
  const last = groupsOf(repository, base.ref).at(-1)
  const onto = last?.head.sha ?? (repository.refs.get(refOf(base.ref)) as string)
  const head = mergeOnto(world, pullRequest, { by, method, onto })
  const branch = `gh-readonly-queue/${base.ref}/pr-${number}-${onto}`
  const group = { pullRequest, by, method, branch, base_sha: onto, head }
  repository.mergeQueue.push(group)
  moveRef(world, repository, { ref: refOf(branch), after: head.sha, pusher: queueBot(world) })
  sendGroup(world, group, { action: 'checks_requested' })
  return group
}

/** The checks of a group have passed: it is merged, and the groups before it, by one push. */
export function mergeGroup(world: GitHubWorld, group: MergeGroup): Commit {
  const { base, repository } = group.pullRequest
  const waiting = groupsOf(repository, base.ref)
  const merged = waiting.slice(0, waiting.indexOf(group) + 1)
  const merger = queueBot(world)
  for (const { pullRequest, head, base_sha, method } of merged)
    setMerged(world, pullRequest, { onto: base_sha, commit: head, merger, method })
  const move = { ref: refOf(base.ref), after: group.head.sha, pusher: merger, merge: group.pullRequest }
  moveRef(world, repository, move)
  for (const one of merged) {
    emitPullRequest(world, one.pullRequest, 'merged', merger.login)
    removeGroup(world, one, 'merged')
  }
  return group.head
}

/** Takes a pull request out of the queue. The groups after it are made again without it. */
export function dequeue(world: GitHubWorld, group: MergeGroup, by: string): void {
  const { pullRequest } = group
  const { repository, base } = pullRequest
  const waiting = groupsOf(repository, base.ref)
  const later = waiting.slice(waiting.indexOf(group) + 1)
  sendPullRequest(world, { repository, pullRequest, action: 'dequeued', by: world.account(by) })
  removeGroup(world, group, 'dequeued')
  for (const one of later) removeGroup(world, one, 'invalidated')
  for (const one of later) createGroup(world, one.pullRequest, one)
}

function removeGroup(world: GitHubWorld, group: MergeGroup, reason: string): void {
  const { repository } = group.pullRequest
  repository.mergeQueue.splice(repository.mergeQueue.indexOf(group), 1)
  sendGroup(world, group, { action: 'destroyed', reason })
  moveRef(world, repository, { ref: refOf(group.branch), after: null, pusher: queueBot(world) })
}

function groupsOf(repository: Repository, base: string): MergeGroup[] {
  return repository.mergeQueue.filter(({ pullRequest }) => pullRequest.base.ref === base)
}

function queueBot(world: GitHubWorld): Account {
  return world.account(QUEUE_BOT)
}

function sendGroup(
  world: GitHubWorld,
  { branch, base_sha, head, pullRequest }: MergeGroup,
  { action, ...reason }: { action: string; reason?: string },
): void {
  const { sha, message, at: timestamp, author, committer } = head
  const merge_group = {
    head_sha: sha,
    head_ref: refOf(branch),
    base_sha,
    base_ref: refOf(pullRequest.base.ref),
    head_commit: { id: sha, tree_id: sha, message, timestamp, author, committer },
  }
  const fields = { merge_group, ...reason }
  world.send(pullRequest.repository, { event: 'merge_group', action, sender: queueBot(world), fields })
}
