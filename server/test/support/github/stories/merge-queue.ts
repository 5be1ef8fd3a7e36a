import { refOf } from '../../hosts/history.ts'
import type { Account, Commit, MergeGroup, PullRequest, Repository } from '../types.ts'
import type { World } from '../webhooks/world.ts'
import { mergeOnto, setMerged } from './merges.ts'
import { emitPullRequest } from './pull-request-events.ts'
import { moveRef } from './pushes.ts'

/**
 * Adds a pull request to the merge queue of its base branch: GitHub makes the branch of its group.
 */
export function enqueue(
  world: World,
  repository: Repository,
  pullRequest: PullRequest,
  { by, method }: Pick<MergeGroup, 'by' | 'method'>,
): MergeGroup {
  emitPullRequest(world, repository, pullRequest, { action: 'enqueued', sender: world.state.account(by) })
  return createGroup(world, repository, pullRequest, { by, method })
}

function createGroup(
  world: World,
  repository: Repository,
  pullRequest: PullRequest,
  { by, method }: Pick<MergeGroup, 'by' | 'method'>,
): MergeGroup {
  const { base, number } = pullRequest
  const last = groupsOf(repository, base.ref).at(-1)
  const onto = last?.head.sha ?? (repository.refs.get(refOf(base.ref)) as string)
  const head = mergeOnto(world, repository, pullRequest, { by, method, onto })
  const branch = `gh-readonly-queue/${base.ref}/pr-${number}-${onto}`
  const group = { pullRequest, by, method, branch, base_sha: onto, head }
  repository.mergeQueue.push(group)
  moveRef(world, repository, { ref: refOf(branch), after: head.sha, pusher: queueBot(world), type: 'push' })
  emitGroup(world, repository, group, { action: 'checks_requested' })
  return group
}

/** The checks of a group have passed: it is merged, and the groups before it, by one push. */
export function mergeGroup(world: World, repository: Repository, group: MergeGroup): Commit {
  const { base } = group.pullRequest
  const waiting = groupsOf(repository, base.ref)
  const merged = waiting.slice(0, waiting.indexOf(group) + 1)
  const merger = queueBot(world)
  for (const { pullRequest, head, base_sha } of merged)
    setMerged(world, pullRequest, { onto: base_sha, commit: head, merger })
  moveRef(world, repository, { ref: refOf(base.ref), after: group.head.sha, pusher: merger, type: 'merge_queue_merge' })
  for (const one of merged) {
    emitPullRequest(world, repository, one.pullRequest, { action: 'closed', sender: merger })
    removeGroup(world, repository, one, 'merged')
  }
  return group.head
}

/** Takes a pull request out of the queue. The groups after it are made again without it. */
export function dequeue(world: World, repository: Repository, group: MergeGroup, by: string): void {
  const waiting = groupsOf(repository, group.pullRequest.base.ref)
  const later = waiting.slice(waiting.indexOf(group) + 1)
  const fields = { reason: 'MANUAL' }
  emitPullRequest(world, repository, group.pullRequest, { action: 'dequeued', sender: world.state.account(by), fields })
  removeGroup(world, repository, group, 'dequeued')
  for (const one of later) removeGroup(world, repository, one, 'invalidated')
  for (const one of later) createGroup(world, repository, one.pullRequest, one)
}

function removeGroup(world: World, repository: Repository, group: MergeGroup, reason: string): void {
  repository.mergeQueue.splice(repository.mergeQueue.indexOf(group), 1)
  emitGroup(world, repository, group, { action: 'destroyed', reason })
  moveRef(world, repository, { ref: refOf(group.branch), after: null, pusher: queueBot(world), type: 'push' })
}

function groupsOf(repository: Repository, base: string): MergeGroup[] {
  return repository.mergeQueue.filter(({ pullRequest }) => pullRequest.base.ref === base)
}

function queueBot({ state }: World): Account {
  return state.account('github-merge-queue[bot]')
}

function emitGroup(
  world: World,
  repository: Repository,
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
  world.emit(repository, { event: 'merge_group', action, sender: queueBot(world), fields })
}
