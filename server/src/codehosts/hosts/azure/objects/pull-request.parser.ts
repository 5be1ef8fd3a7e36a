import { type Static, Type } from 'typebox'
import type { HostPullRequest } from '../../../host-change.ts'
import type { HostRepository } from '../../../host-repository.ts'
import { Id, Maybe, readAs, Text, textOrNull } from '../../../kit/payload.ts'
import { pullRequestName } from '../runs.ts'
import { latest, Time, timeOrNull } from './fields.ts'
import { accountOf, Identity } from './identity.parser.ts'
import { branchOf } from './repository.parser.ts'

const CommitRef = Type.Object({ commitId: Maybe(Text) })

/** -10: rejected, -5: waits for the author, 0: none, 5: approved with suggestions, 10: approved. */
const Reviewer = Type.Object({ ...Identity.properties, vote: Maybe(Type.Integer()) })

const PullRequest = Type.Object({
  pullRequestId: Id,
  repository: Maybe(Type.Object({ id: Text })),
  title: Maybe(Text),
  status: Maybe(Text),
  isDraft: Maybe(Type.Boolean()),
  createdBy: Maybe(Identity),
  creationDate: Time,
  closedDate: Maybe(Time),
  closedBy: Maybe(Identity),
  sourceRefName: Text,
  targetRefName: Text,
  lastMergeSourceCommit: Maybe(CommitRef),
  lastMergeTargetCommit: Maybe(CommitRef),
  lastMergeCommit: Maybe(CommitRef),
  forkSource: Maybe(Type.Object({ repository: Maybe(Type.Object({ id: Text })) })),
  reviewers: Maybe(Type.Array(Reviewer)),
})
export type PullRequest = Static<typeof PullRequest>

export function parsePullRequest(value: unknown): PullRequest {
  return readAs(PullRequest, value)
}

const STATES: Readonly<Record<string, HostPullRequest['state']>> = { completed: 'merged', abandoned: 'closed' }

/** `changedAt`: the newest change of its threads, which record votes, pushes and states. */
export function pullRequestOf(pull: PullRequest, changedAt: Date | null, repository: HostRepository): HostPullRequest {
  const state = STATES[pull.status ?? ''] ?? 'open'
  const createdAt = timeOrNull(pull.creationDate) ?? new Date(0)
  const closedAt = state === 'open' ? null : timeOrNull(pull.closedDate)
  const isMerged = state === 'merged'
  return {
    repository,
    number: pull.pullRequestId,
    title: textOrNull(pull.title) ?? '',
    url: pullRequestName(repository, pull.pullRequestId).url,
    author: accountOf(pull.createdBy),
    state,
    draft: pull.isDraft ?? false,
    head: {
      ref: branchOf(pull.sourceRefName) ?? pull.sourceRefName,
      sha: pull.lastMergeSourceCommit?.commitId ?? '',
      repository_id: headRepositoryId(pull, repository),
    },
    base: {
      ref: branchOf(pull.targetRefName) ?? pull.targetRefName,
      sha: pull.lastMergeTargetCommit?.commitId ?? '',
    },
    // Before the merge, this is a commit that only tries it.
    merge_commit_sha: isMerged ? textOrNull(pull.lastMergeCommit?.commitId) : null,
    merged_by: isMerged ? accountOf(pull.closedBy) : null,
    merged_by_queue: false,
    created_at: createdAt,
    merged_at: isMerged ? closedAt : null,
    closed_at: closedAt,
    updated_at: latest([changedAt, closedAt], createdAt),
  }
}

function headRepositoryId({ forkSource }: PullRequest, repository: HostRepository): string | null {
  if (!forkSource) return repository.id
  return forkSource.repository?.id.toLowerCase() ?? null
}
