import { type Static, Type } from 'typebox'
import type { HostPullRequest } from '../../../host-change.ts'
import type { HostRepository } from '../../../host-repository.ts'
import { Id, Maybe, readAs, Text, Timestamp, textOrNull } from '../../../kit/payload.ts'
import { bareUuid } from '../client/uuid.ts'
import { Account, accountOf, Links } from './repository.parser.ts'

const Endpoint = Type.Object({
  repository: Maybe(Type.Object({ uuid: Maybe(Text) })),
  branch: Type.Object({ name: Text }),
  commit: Maybe(Type.Object({ hash: Maybe(Text) })),
})

export const PullRequest = Type.Object({
  id: Id,
  title: Text,
  links: Links,
  author: Maybe(Account),
  state: Text,
  draft: Maybe(Type.Boolean()),
  source: Endpoint,
  destination: Endpoint,
  merge_commit: Maybe(Type.Object({ hash: Maybe(Text) })),
  closed_by: Maybe(Account),
  created_on: Timestamp,
  updated_on: Timestamp,
})

/** What the pull request itself does not say: the time of its end, and whole commit hashes. */
export type PullRequestFacts = { closed_at: Date | null; wholeHash: (hash: string) => string }

/** Declined and superseded pull requests are closed. */
export function parsePullRequest(
  value: unknown,
  repository: HostRepository,
  { closed_at: closedAt, wholeHash }: PullRequestFacts,
): HostPullRequest {
  const pull = readAs(PullRequest, value)
  const state = stateOf(pull.state)
  const endedAt = state === 'open' ? null : (closedAt ?? new Date(pull.updated_on))
  return {
    repository,
    number: pull.id,
    title: textOrNull(pull.title) ?? '',
    url: textOrNull(pull.links?.html?.href),
    author: accountOf(pull.author),
    state,
    draft: pull.draft ?? false,
    head: {
      ...endOf(pull.source, wholeHash),
      repository_id: pull.source.repository?.uuid ? bareUuid(pull.source.repository.uuid) : null,
    },
    base: endOf(pull.destination, wholeHash),
    merge_commit_sha: state === 'merged' && pull.merge_commit?.hash ? wholeHash(pull.merge_commit.hash) : null,
    merged_by: state === 'merged' ? accountOf(pull.closed_by) : null,
    merged_by_queue: false,
    created_at: new Date(pull.created_on),
    merged_at: state === 'merged' ? endedAt : null,
    closed_at: endedAt,
    updated_at: new Date(pull.updated_on),
  }
}

export function stateOf(state: string): HostPullRequest['state'] {
  return state === 'MERGED' ? 'merged' : state === 'OPEN' ? 'open' : 'closed'
}

function endOf({ branch, commit }: Static<typeof Endpoint>, wholeHash: (hash: string) => string) {
  return { ref: branch.name, sha: commit?.hash ? wholeHash(commit.hash) : '' }
}

/** The abbreviated hashes that a pull request names. */
export function hashesOf(value: unknown): string[] {
  const { source, destination, merge_commit } = readAs(PullRequest, value)
  return [source.commit?.hash, destination.commit?.hash, merge_commit?.hash].filter((hash) => typeof hash === 'string')
}
