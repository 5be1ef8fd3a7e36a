import { type Static, Type } from 'typebox'
import type { HostReview } from '../../host-change.ts'
import type { HostRepository } from '../../host-repository.ts'
import { Id, Maybe, readAs, Text } from '../../kit/payload.ts'
import { type AzureApi, Identity, parseAccount, parseTime, Time } from './client.ts'

/** The path of a pull request; null if its repository cannot be read. */
export async function fetchPullRequestPath(
  api: AzureApi,
  { id }: HostRepository,
  number: number,
): Promise<string | null> {
  const path = await api.fetchRepositoryPath({ id })
  return path && `${path}/pullRequests/${number}`
}

/**
 * The threads of a pull request. Azure DevOps adds one for each vote, push and change of its state.
 */
export async function fetchThreads(api: AzureApi, repository: HostRepository, number: number): Promise<Thread[]> {
  const path = await fetchPullRequestPath(api, repository, number)
  return path === null ? [] : api.fetchAll({ path: `${path}/threads` }, parseThread)
}

/** Properties of a thread are wrapped with their type. */
const Property = Type.Object({ $value: Maybe(Type.Union([Text, Type.Number()])) })

const Thread = Type.Object({
  id: Id,
  publishedDate: Maybe(Time),
  lastUpdatedDate: Maybe(Time),
  properties: Maybe(Type.Record(Type.String(), Type.Unknown())),
  identities: Maybe(Type.Record(Type.String(), Identity)),
  comments: Maybe(Type.Array(Type.Object({ author: Maybe(Identity) }))),
})
type Thread = Static<typeof Thread>

export function parseThread(value: unknown): Thread {
  return readAs(Thread, value)
}

const Iteration = Type.Object({
  id: Id,
  createdDate: Maybe(Time),
  sourceRefCommit: Maybe(Type.Object({ commitId: Maybe(Text) })),
})
type Iteration = Static<typeof Iteration>

export function parseIteration(value: unknown): Iteration {
  return readAs(Iteration, value)
}

/** -10: rejected, -5: waits for the author, 0: none, 5: approved with suggestions, 10: approved. */
export const Reviewer = Type.Object({ ...Identity.properties, vote: Maybe(Type.Integer()) })

/** What a pull request says of its reviewers, and of its own time. */
type ReviewedPullRequest = {
  pullRequestId: number
  creationDate: string
  closedDate?: string | null
  reviewers?: Static<typeof Reviewer>[] | null
}

type Vote = { id: string; voter: Static<typeof Identity>; vote: number; at: Date }

type Voted = { pull: ReviewedPullRequest; threads: Thread[]; iterations: Iteration[]; repository: HostRepository }

/**
 * The votes of a pull request, oldest first. Azure DevOps keeps the present vote of each reviewer,
 * and a thread for each vote, which has its time. A vote that was reset afterwards, by the reviewer
 * or by a policy, is dismissed.
 */
export function toHostReviews({ pull, threads, iterations, repository }: Voted): HostReview[] {
  const votes = threads
    .flatMap((thread) => parseVote(thread) ?? [])
    .sort((one, other) => Number(one.at) - Number(other.at))
  const all = [...votes, ...unrecorded(pull, votes)]
  return all.flatMap((vote, index) => {
    if (vote.vote === 0) return []
    const next = all.slice(index + 1).find(({ voter }) => isSame(voter, vote.voter))
    const isReset = next === undefined ? presentVote(pull, vote.voter) === 0 : next.vote === 0
    return {
      repository,
      pull_request: pull.pullRequestId,
      id: vote.id,
      reviewer: parseAccount(vote.voter),
      state: isReset ? ('dismissed' as const) : vote.vote > 0 ? ('approved' as const) : ('changes_requested' as const),
      commit_sha: commitAt(iterations, vote.at),
      submitted_at: vote.at,
    }
  })
}

function parseVote({ id, publishedDate, lastUpdatedDate, ...thread }: Thread): Vote | null {
  if (property(thread, 'CodeReviewThreadType') !== 'VoteUpdate') return null
  const vote = Number(property(thread, 'CodeReviewVoteResult') ?? 0)
  const at = parseTime(publishedDate) ?? parseTime(lastUpdatedDate)
  // The voter is a key of the thread's identities. System comments are written in their name.
  const key = property(thread, 'CodeReviewVotedByIdentity') ?? '1'
  const voter = thread.identities?.[String(key)] ?? thread.comments?.[0]?.author ?? null
  return at === null || voter === null ? null : { id: String(id), voter, vote, at }
}

function property({ properties }: Pick<Thread, 'properties'>, name: string): string | number | null {
  const found = properties?.[name]
  return found === undefined ? null : (readAs(Property, found).$value ?? null)
}

/**
 * Present votes without a thread. Groups are left out: the votes of their members are counted for
 * them.
 */
function unrecorded(pull: ReviewedPullRequest, votes: Vote[]): Vote[] {
  return (pull.reviewers ?? []).flatMap((reviewer) => {
    const vote = reviewer.vote ?? 0
    const isRecorded = votes.some(({ voter }) => isSame(voter, reviewer))
    const at = parseTime(pull.closedDate) ?? parseTime(pull.creationDate)
    if (vote === 0 || reviewer.isContainer || isRecorded || at === null) return []
    return { id: `vote_${reviewer.id}_${vote}`, voter: reviewer, vote, at }
  })
}

/** The vote of someone who is no longer a reviewer does not count. */
function presentVote({ reviewers }: ReviewedPullRequest, voter: Static<typeof Identity>): number {
  return (reviewers ?? []).find((reviewer) => isSame(reviewer, voter))?.vote ?? 0
}

function isSame(one: Static<typeof Identity>, other: Static<typeof Identity>): boolean {
  return one.id !== undefined && one.id?.toLowerCase() === other.id?.toLowerCase()
}

/** The head of the pull request at a time. */
function commitAt(iterations: Iteration[], at: Date): string | null {
  const before = iterations.filter(({ createdDate }) => (parseTime(createdDate) ?? at) <= at)
  return before.sort((one, other) => other.id - one.id)[0]?.sourceRefCommit?.commitId ?? null
}

/** When a pull request last changed, as far as its threads tell: votes, pushes, states. */
export function computeLastChange(threads: Thread[]): Date | null {
  const times = threads.flatMap(
    ({ lastUpdatedDate, publishedDate }) => parseTime(lastUpdatedDate ?? publishedDate) ?? [],
  )
  return times.length === 0 ? null : new Date(Math.max(...times.map(Number)))
}
