import type { HostAccount, HostRepository } from './host-repository.ts'

/** A pull request, or what a host has in its place. */
export type HostPullRequest = {
  repository: HostRepository
  number: number
  title: string
  url: string | null
  author: HostAccount | null
  state: 'open' | 'closed' | 'merged'
  draft: boolean
  /** `repository_id` is null if the repository of the head was deleted. */
  head: { ref: string; sha: string; repository_id: string | null }
  base: { ref: string; sha: string }
  merge_commit_sha: string | null
  merged_by: HostAccount | null
  /** Whether the host's merge queue merged it. */
  merged_by_queue: boolean
  created_at: Date
  merged_at: Date | null
  closed_at: Date | null
  updated_at: Date
}

export type HostReview = {
  repository: HostRepository
  pull_request: number
  id: string
  reviewer: HostAccount | null
  state: 'approved' | 'changes_requested' | 'commented' | 'dismissed'
  /** The commit that was reviewed. */
  commit_sha: string | null
  submitted_at: Date
}

export type HostPushedCommit = {
  sha: string
  message: string
  author: { name: string; email: string | null; login: string | null }
  committer: { name: string; email: string | null; login: string | null }
  at: Date
}

/** New commits on a ref. */
export type HostPush = {
  repository: HostRepository
  /** `refs/heads/…` or `refs/tags/…` */
  ref: string
  /** Null if the ref was created by this push. */
  before: string | null
  /** Null if the ref was deleted by this push. */
  after: string | null
  forced: boolean
  pusher: HostAccount | null
  /** Whether the host's merge queue pushed the commits. */
  by_merge_queue: boolean
  /** The pushed commits, oldest first. Hosts leave some out if there are many. */
  commits: HostPushedCommit[]
  pushed_at: Date
}

/**
 * A push as its host tells it. `forced` is null if the host does not say whether commits were
 * replaced.
 */
export type ToldPush = Omit<HostPush, 'forced'> & { forced: boolean | null }

/** A commit as the host lists it for a pull request or a range of commits. */
export type HostChangeCommit = {
  sha: string
  message: string
  /** `id` and `login` are null if the address belongs to no account. */
  author: { name: string; email: string | null; id: string | null; login: string | null }
  committer: { name: string; email: string | null; id: string | null; login: string | null }
  /** Null if the host does not check signatures. */
  signature: { verified: boolean; reason: string } | null
}

/**
 * Oldest first. `complete` is false if the host listed only a part of them, or one cannot be read.
 */
export type HostCommitList = { commits: HostChangeCommit[]; complete: boolean }

/** What the rules of a branch that may be read require of changes, the strictest of each. */
export type HostBranchRules = {
  requires_pull_request: boolean
  required_approvals: number
  requires_code_owner_review: boolean
  required_checks: string[]
  requires_signatures: boolean
  blocks_force_pushes: boolean
  blocks_deletion: boolean
  requires_merge_queue: boolean
  /** False if the branch can have further rules, which may not be read. */
  complete: boolean
}

/** The file that names the owners of paths, at a commit. */
export type HostCodeOwners = { path: string; text: string }
