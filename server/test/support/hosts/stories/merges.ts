import { changedFilesOf, commitsOf, refOf } from '../history.ts'
import type { Account, Commit, MergeMethod, PullRequest } from '../types.ts'
import type { World } from '../world.ts'
import { addCommit, moveRef } from './commits.ts'
import { emitPullRequest } from './pull-requests.ts'

export type Merge = { by: string; method: MergeMethod }

/** Merges a pull request into its base branch. Returns the commit that the branch then has. */
export function merge(world: World, pullRequest: PullRequest, { by, method }: Merge): Commit {
  const { repository, base } = pullRequest
  const ref = refOf(base.ref)
  const onto = repository.refs.get(ref) as string
  const commit = mergeOnto(world, pullRequest, { by, method, onto })
  const merger = world.account(by)
  setMerged(world, pullRequest, { onto, commit, merger, method })
  moveRef(world, repository, { ref, after: commit.sha, pusher: merger, merge: pullRequest })
  emitPullRequest(world, pullRequest, 'merged', by)
  return commit
}

/** The pull request is merged. Its branch has not moved yet. */
export function setMerged(
  world: World,
  pullRequest: PullRequest,
  { onto, commit, merger, method }: { onto: string; commit: Commit; merger: Account; method: MergeMethod },
): void {
  const at = world.now()
  Object.assign(pullRequest, { merged_onto: onto, merge_commit_sha: commit.sha, merge_method: method })
  Object.assign(pullRequest, { state: 'merged', merged_by: merger, merged_at: at, closed_at: at, updated_at: at })
}

/** The commits of a merge on top of `onto`, which no branch has yet. */
export function mergeOnto(
  world: World,
  pullRequest: PullRequest,
  { by, method, onto }: Merge & { onto: string },
): Commit {
  const { repository, head } = pullRequest
  if (method === 'rebase') return rebase(world, pullRequest, by, onto)
  const changed = changedFilesOf(repository, pullRequest)
  const moved = changed.flatMap(({ former }): [string, null][] => (former === null ? [] : [[former, null]]))
  const files = Object.fromEntries([...moved, ...changed.map(({ path, text }) => [path, text])])
  const parents = method === 'squash' ? [onto] : [onto, head.sha]
  return addCommit(world, repository, parents, { ...world.mergeCommit(pullRequest, { by, method }), files })
}

/** Each commit anew, by its author. */
function rebase(world: World, pullRequest: PullRequest, by: string, onto: string): Commit {
  const { repository } = pullRequest
  let tip = repository.commits.get(onto) as Commit
  for (const { message, account, files, changed } of commitsOf(repository, pullRequest)) {
    const texts = Object.fromEntries(changed.map((path) => [path, files.get(path) ?? null]))
    const author = account?.login ?? null
    tip = addCommit(world, repository, [tip.sha], { message, author, committer: by, files: texts })
  }
  return tip
}
