import { changedFilesOf, commitsOf, refOf } from '../../hosts/history.ts'
import type { Account, Commit, MergeMethod, PullRequest, Repository } from '../types.ts'
import type { World } from '../webhooks/world.ts'
import { addCommit, signedByGithub } from './commits.ts'
import { emitPullRequest } from './pull-request-events.ts'
import { moveRef } from './pushes.ts'

type Merge = { by: string; method: MergeMethod }

/** Merges a pull request into its base branch. Returns the commit that the branch then has. */
export function merge(world: World, repository: Repository, pullRequest: PullRequest, { by, method }: Merge): Commit {
  const ref = refOf(pullRequest.base.ref)
  const onto = repository.refs.get(ref) as string
  const commit = mergeOnto(world, repository, pullRequest, { by, method, onto })
  const merger = world.state.account(by)
  setMerged(world, pullRequest, { onto, commit, merger })
  moveRef(world, repository, { ref, after: commit.sha, pusher: merger, type: 'pr_merge' })
  emitPullRequest(world, repository, pullRequest, { action: 'closed', sender: merger })
  return commit
}

/** The commits of a merge on top of `onto`, which is the tip of the base branch or of a group. */
export function mergeOnto(
  world: World,
  repository: Repository,
  pullRequest: PullRequest,
  { by, method, onto }: Merge & { onto: string },
): Commit {
  const { number, title, head, author } = pullRequest
  const changed = changedFilesOf(repository, pullRequest)
  const moved = changed.flatMap(({ former }): [string, null][] => (former === null ? [] : [[former, null]]))
  const files = Object.fromEntries([...moved, ...changed.map(({ path, text }) => [path, text])])
  const signed = signedByGithub(world)
  if (method === 'rebase') return rebase(world, repository, pullRequest, { by, onto })
  if (method === 'squash')
    return addCommit(world, repository, [onto], {
      message: `${title} (#${number})`,
      author: author.login,
      files,
      ...signed,
    })
  const message = `Merge pull request #${number} from ${repository.owner.login}/${head.ref}\n\n${title}`
  return addCommit(world, repository, [onto, head.sha], { message, author: by, files, ...signed })
}

/** Each commit anew, by its author. GitHub does not sign these commits. */
function rebase(
  world: World,
  repository: Repository,
  pullRequest: PullRequest,
  { by, onto }: { by: string; onto: string },
): Commit {
  let tip = repository.commits.get(onto) as Commit
  for (const { message, account, files, changed } of commitsOf(repository, pullRequest)) {
    const texts = Object.fromEntries(changed.map((path) => [path, files.get(path) ?? null]))
    const author = account?.login ?? null
    tip = addCommit(world, repository, [tip.sha], { message, author, committer: by, files: texts })
  }
  return tip
}

/** The pull request is merged and closed. Its event is still to be sent. */
export function setMerged(
  world: World,
  pullRequest: PullRequest,
  { onto, commit, merger }: { onto: string; commit: Commit; merger: Account },
): void {
  const at = world.now()
  Object.assign(pullRequest, { merged_onto: onto, merge_commit_sha: commit.sha, merged_by: merger, merged_at: at })
  Object.assign(pullRequest, { state: 'closed', closed_at: at, updated_at: at })
}
