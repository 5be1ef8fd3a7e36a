import { wholePullRequest } from '../objects/pull-request.ts'
import type { Account, Commit, PullRequest, Repository } from '../types.ts'
import type { World } from '../webhooks/world.ts'

/** The branch of a pull request was pushed. */
export function moveHead(world: World, repository: Repository, pullRequest: PullRequest, commit: Commit): void {
  const before = pullRequest.head.sha
  pullRequest.head = { ...pullRequest.head, sha: commit.sha }
  pullRequest.updated_at = world.now()
  const fields = { before, after: commit.sha }
  emitPullRequest(world, repository, pullRequest, { action: 'synchronize', sender: pullRequest.author, fields })
}

export function emitPullRequest(
  world: World,
  repository: Repository,
  pullRequest: PullRequest,
  { action, sender, fields = {} }: { action: string; sender: Account; fields?: object },
): void {
  const pull_request = wholePullRequest(world, repository, pullRequest)
  const about = { number: pullRequest.number, pull_request, ...fields }
  world.emit(repository, { event: 'pull_request', action, sender, fields: about })
}
