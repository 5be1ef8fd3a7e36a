import type { Commit, MergeGroup, MergeMethod, PullRequest, Repository, Review } from '../types.ts'
import type { World } from '../webhooks/world.ts'
import { type BranchRules, protectBranch } from './branch-rules.ts'
import { dequeue, enqueue, mergeGroup } from './merge-queue.ts'
import { merge } from './merges.ts'
import { close, dismissReview, openPullRequest, reopen, retitle, reviewPullRequest } from './pull-requests.ts'
import { type NewCommit, push } from './pushes.ts'

/** How commits land on a branch: pushes, pull requests and the merge queue. */
export class ChangeStories {
  readonly world: World

  constructor(world: World) {
    this.world = world
  }

  /** Pushes commits. Returns the last one. */
  push(repository: Repository, commit: NewCommit = {}): Commit {
    return push(this.world, repository, commit)
  }

  openPullRequest(
    repository: Repository,
    fields: { branch: string; title?: string; author?: string; draft?: boolean; base?: string },
  ): PullRequest {
    return openPullRequest(this.world, repository, fields)
  }

  /** Merges a pull request. Returns the commit that its base branch then has. */
  merge(repository: Repository, pullRequest: PullRequest, by = 'ada', method: MergeMethod = 'merge'): Commit {
    return merge(this.world, repository, pullRequest, { by, method })
  }

  /**
   * Adds a pull request to the merge queue. Workflows run for the `branch` and `head` of its group.
   */
  enqueue(repository: Repository, pullRequest: PullRequest, by = 'ada', method: MergeMethod = 'merge'): MergeGroup {
    return enqueue(this.world, repository, pullRequest, { by, method })
  }

  /** The merge queue merges a group, and the groups before it, by one push. */
  mergeGroup(repository: Repository, group: MergeGroup): Commit {
    return mergeGroup(this.world, repository, group)
  }

  /** Removes a pull request from the merge queue. */
  dequeue(repository: Repository, group: MergeGroup, by = 'ada'): void {
    dequeue(this.world, repository, group, by)
  }

  closePullRequest(repository: Repository, pullRequest: PullRequest, by = 'ada'): void {
    close(this.world, repository, pullRequest, by)
  }

  reopenPullRequest(repository: Repository, pullRequest: PullRequest, by = 'ada'): void {
    reopen(this.world, repository, pullRequest, by)
  }

  retitle(repository: Repository, pullRequest: PullRequest, title: string): void {
    retitle(this.world, repository, pullRequest, title)
  }

  reviewPullRequest(
    repository: Repository,
    pullRequest: PullRequest,
    fields: { by: string; state: Review['state']; body?: string },
  ): Review {
    return reviewPullRequest(this.world, repository, pullRequest, fields)
  }

  dismissReview(repository: Repository, pullRequest: PullRequest, review: Review): void {
    dismissReview(this.world, repository, pullRequest, review)
  }

  /** Adds a ruleset for a branch. */
  protectBranch(repository: Repository, branch: string, rules: BranchRules): void {
    protectBranch(this.world, repository, branch, rules)
  }
}
