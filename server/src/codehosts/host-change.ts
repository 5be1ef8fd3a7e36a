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
  /** The pushed commits, oldest first. Hosts leave some out if there are many. */
  commits: HostPushedCommit[]
  pushed_at: Date
}
