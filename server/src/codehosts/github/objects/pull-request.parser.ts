import { type Static, Type } from 'typebox'
import type { HostPullRequest, HostReview } from '../../host-change.ts'
import type { HostRepository } from '../../host-repository.ts'
import { dateOrNull, Id, Maybe, readAs, Text, Timestamp, textOrNull } from '../../kit/payload.ts'
import { Account, accountOf, isMergeQueue } from './repository.parser.ts'

export const PullRequest = Type.Object({
  number: Id,
  title: Text,
  html_url: Maybe(Text),
  user: Maybe(Account),
  state: Text,
  draft: Maybe(Type.Boolean()),
  head: Type.Object({ ref: Text, sha: Text, repo: Maybe(Type.Object({ id: Id })) }),
  base: Type.Object({ ref: Text, sha: Text }),
  merge_commit_sha: Maybe(Text),
  merged_by: Maybe(Account),
  created_at: Timestamp,
  merged_at: Maybe(Timestamp),
  closed_at: Maybe(Timestamp),
  updated_at: Timestamp,
})

export function pullRequestOf(pull: Static<typeof PullRequest>, repository: HostRepository): HostPullRequest {
  const mergedAt = dateOrNull(pull.merged_at)
  return {
    repository,
    number: pull.number,
    title: textOrNull(pull.title) ?? '',
    url: textOrNull(pull.html_url),
    author: accountOf(pull.user),
    state: mergedAt !== null ? 'merged' : pull.state === 'open' ? 'open' : 'closed',
    draft: pull.draft ?? false,
    head: { ref: pull.head.ref, sha: pull.head.sha, repository_id: pull.head.repo ? String(pull.head.repo.id) : null },
    base: { ref: pull.base.ref, sha: pull.base.sha },
    // Before the merge, GitHub names a commit that only tries it.
    merge_commit_sha: mergedAt === null ? null : textOrNull(pull.merge_commit_sha),
    merged_by: accountOf(pull.merged_by),
    merged_by_queue: isMergeQueue(pull.merged_by?.login),
    created_at: new Date(pull.created_at),
    merged_at: mergedAt,
    closed_at: dateOrNull(pull.closed_at),
    updated_at: new Date(pull.updated_at),
  }
}

export function parsePullRequest(value: unknown, repository: HostRepository): HostPullRequest {
  return pullRequestOf(readAs(PullRequest, value), repository)
}

export const Review = Type.Object({
  id: Id,
  user: Maybe(Account),
  state: Text,
  commit_id: Maybe(Text),
  submitted_at: Maybe(Timestamp),
})

const STATES: Readonly<Record<string, HostReview['state']>> = {
  approved: 'approved',
  changes_requested: 'changes_requested',
  commented: 'commented',
  dismissed: 'dismissed',
}

/** Null for a review that was not submitted yet. */
export function reviewOf(
  review: Static<typeof Review>,
  repository: HostRepository,
  pullRequest: number,
): HostReview | null {
  const state = STATES[review.state.toLowerCase()]
  const submittedAt = dateOrNull(review.submitted_at)
  if (state === undefined || submittedAt === null) return null
  return {
    repository,
    pull_request: pullRequest,
    id: String(review.id),
    reviewer: accountOf(review.user),
    state,
    commit_sha: textOrNull(review.commit_id),
    submitted_at: submittedAt,
  }
}

export function parseReview(value: unknown, repository: HostRepository, pullRequest: number): HostReview | null {
  return reviewOf(readAs(Review, value), repository, pullRequest)
}
