import { type Static, Type } from 'typebox'
import { collectConcurrently } from '../../../platform/concurrency.ts'
import type { HostReader } from '../../code-host.ts'
import type { HostPullRequest, HostReview } from '../../host-change.ts'
import type { HostAccount, HostRepository } from '../../host-repository.ts'
import { NO_ACCESS, parseWholeList } from '../../kit/pages.ts'
import { Id, Maybe, parseText, readAs, Text, Timestamp } from '../../kit/payload.ts'
import { createBranchRuleReads } from './branch-rules.ts'
import { type BitbucketApi, parseUuid } from './client.ts'
import { parseChangeCommit, WholeHashes } from './commits.ts'
import { Account, Links, parseAccount } from './repositories.ts'

type ChangeReads = Pick<
  HostReader,
  | 'listPullRequests'
  | 'readPullRequest'
  | 'listReviews'
  | 'listPullRequestCommits'
  | 'listChangedFiles'
  | 'listPushes'
  | 'readBranchRules'
  | 'readCodeOwners'
>

/** Bitbucket lists no more pull requests on a page. */
const PAGE_PULL_REQUESTS = 50
const STATES = ['OPEN', 'MERGED', 'DECLINED', 'SUPERSEDED']
const CONCURRENT_READS = 4
/** Comments are activities too, and can be many. */
const ACTIVITY_PAGES_MAX = 10
const ACTIVITY_ITEMS = 50
const PAGE_FILES = 500

export function createChangeReads(api: BitbucketApi): ChangeReads {
  const place = { api, hashes: new WholeHashes(api) }
  return {
    async listPullRequests(repository, options) {
      const query = { state: STATES, sort: '-updated_on', pagelen: PAGE_PULL_REQUESTS }
      const list = { path: api.repositoryPath(repository, '/pullrequests'), query }
      const page = await api.fetchPage(list, options, (pull) => pull)
      const items = await collectConcurrently(page.items, CONCURRENT_READS, (pull) => complete(place, repository, pull))
      return { ...page, items: items.filter((pull) => pull !== null) }
    },

    async readPullRequest(repository, number) {
      const pull = await api.fetch(pullRequestPath(api, repository, number))
      return pull && complete(place, repository, pull)
    },

    async listReviews(repository, number) {
      const pull = await api.fetch(pullRequestPath(api, repository, number))
      if (pull === null) return []
      const activities = await fetchActivities(api, repository, number)
      const wholeHash = await place.hashes.fetchAll(repository, reviewedHashes(activities))
      return parseReviews(pull, activities, { repository, number, wholeHash })
    },

    /** Bitbucket lists the newest commit first. */
    async listPullRequestCommits(repository, number) {
      const found = await api.fetchList({ path: `${pullRequestPath(api, repository, number)}/commits` })
      if (found === null) return null
      const { items, complete } = parseWholeList(api, found, parseChangeCommit)
      return { commits: items.reverse(), complete }
    },

    /** Bitbucket redirects to the comparison of both branches, whose first page holds 500 files. */
    async listChangedFiles(repository, number) {
      const list = { path: `${pullRequestPath(api, repository, number)}/diffstat`, query: { pagelen: PAGE_FILES } }
      const found = await api.fetchList(list, 1)
      if (found === null) return null
      const { items, complete } = parseWholeList(api, found, parseDiffstat)
      return { paths: [...new Set(items.flatMap(({ paths }) => paths))], complete }
    },

    /** Bitbucket lists no pushes: its webhooks alone report them. */
    listPushes: async () => NO_ACCESS,

    ...createBranchRuleReads(api),
  }
}

function pullRequestPath(api: BitbucketApi, repository: HostRepository, number: number): string {
  return api.repositoryPath(repository, `/pullrequests/${number}`)
}

/** Adds what the pull request itself does not say. */
async function complete(
  { api, hashes }: { api: BitbucketApi; hashes: WholeHashes },
  repository: HostRepository,
  value: unknown,
): Promise<HostPullRequest | null> {
  const pull = api.parseItem(value, (item) => readAs(PullRequest, item))
  if (pull === null) return null
  const commits = [pull.source.commit, pull.destination.commit, pull.merge_commit]
  const wholeHash = await hashes.fetchAll(
    repository,
    commits.flatMap((commit) => (typeof commit?.hash === 'string' ? commit.hash : [])),
  )
  const activities = pull.state === 'OPEN' ? [] : await fetchActivities(api, repository, pull.id)
  return parsePullRequest(pull, repository, { closedAt: closingTime(activities), wholeHash })
}

/** Newest first. */
async function fetchActivities(api: BitbucketApi, repository: HostRepository, number: number): Promise<Activity[]> {
  const path = `${pullRequestPath(api, repository, number)}/activity`
  const found = await api.fetchList({ path, query: { pagelen: ACTIVITY_ITEMS } }, ACTIVITY_PAGES_MAX)
  return api.parseItems(found?.values ?? [], (value) => readAs(Activity, value))
}

const File = Maybe(Type.Object({ path: Text }))
const Diffstat = Type.Object({ old: File, new: File })

/** The path of a changed file, and the former one of a moved file. */
function parseDiffstat(value: unknown): { paths: string[] } {
  const { old: former, new: current } = readAs(Diffstat, value)
  return { paths: [current?.path, former?.path].filter((path) => path !== undefined) }
}

const Endpoint = Type.Object({
  repository: Maybe(Type.Object({ uuid: Maybe(Text) })),
  branch: Type.Object({ name: Text }),
  commit: Maybe(Type.Object({ hash: Maybe(Text) })),
})

const PullRequest = Type.Object({
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

/** Pull requests name commits by the first characters of hashes: this gives the whole ones. */
type WholeHash = (hash: string) => string

/** Declined and superseded pull requests are closed. */
function parsePullRequest(
  pull: Static<typeof PullRequest>,
  repository: HostRepository,
  { closedAt, wholeHash }: { closedAt: Date | null; wholeHash: WholeHash },
): HostPullRequest {
  const state = pull.state === 'MERGED' ? 'merged' : pull.state === 'OPEN' ? 'open' : 'closed'
  const endedAt = state === 'open' ? null : (closedAt ?? new Date(pull.updated_on))
  const { source, destination } = pull
  return {
    repository,
    number: pull.id,
    title: parseText(pull.title) ?? '',
    url: parseText(pull.links?.html?.href),
    author: parseAccount(pull.author),
    state,
    draft: pull.draft ?? false,
    head: {
      ref: source.branch.name,
      sha: source.commit?.hash ? wholeHash(source.commit.hash) : '',
      repository_id: source.repository?.uuid ? parseUuid(source.repository.uuid) : null,
    },
    base: {
      ref: destination.branch.name,
      sha: destination.commit?.hash ? wholeHash(destination.commit.hash) : '',
    },
    merge_commit_sha: state === 'merged' && pull.merge_commit?.hash ? wholeHash(pull.merge_commit.hash) : null,
    merged_by: state === 'merged' ? parseAccount(pull.closed_by) : null,
    merged_by_queue: false,
    created_at: new Date(pull.created_on),
    merged_at: state === 'merged' ? endedAt : null,
    closed_at: endedAt,
    updated_at: new Date(pull.updated_on),
  }
}

const Answer = Maybe(Type.Object({ date: Timestamp, user: Maybe(Account) }))

/** Something that happened to a pull request: a change of it, or an answer of a reviewer. */
const Activity = Type.Object({
  update: Maybe(
    Type.Object({
      date: Maybe(Timestamp),
      state: Maybe(Text),
      source: Maybe(Type.Object({ commit: Maybe(Type.Object({ hash: Maybe(Text) })) })),
    }),
  ),
  approval: Answer,
  changes_requested: Answer,
})
type Activity = Static<typeof Activity>

/** When the pull request was merged or declined; null if that is not among these activities. */
function closingTime(activities: readonly Activity[]): Date | null {
  const ends = activities.filter(({ update }) => update?.state && update.state !== 'OPEN' && update.date)
  const times = ends.map(({ update }) => new Date(update?.date as string).getTime())
  return times.length === 0 ? null : new Date(Math.min(...times))
}

const Participant = Type.Object({
  user: Maybe(Account),
  approved: Maybe(Type.Boolean()),
  state: Maybe(Text),
  participated_on: Maybe(Timestamp),
})
type Participant = Static<typeof Participant>

const Participants = Type.Object({ participants: Maybe(Type.Array(Participant)) })

type ReviewPlace = { repository: HostRepository; number: number; wholeHash: WholeHash }

/**
 * The reviews of a pull request. Its participants have their present opinion only; its activities
 * say when each was given, and on which commit. An answer that its reviewer has withdrawn since is
 * dismissed.
 */
function parseReviews(pull: unknown, activities: readonly Activity[], place: ReviewPlace): HostReview[] {
  const participants = readAs(Participants, pull).participants ?? []
  const present = new Map(participants.map((one) => [parseUuid(one.user?.uuid ?? ''), parseOpinion(one)]))
  const answers = activities.flatMap((activity, at) => parseAnswer(activity, hashBefore(activities, at), place) ?? [])
  const newest = new Map([...answers].reverse().map((one) => [one.reviewer.id, one.submitted_at.getTime()]))
  const listed = answers.map((answer): HostReview => {
    const { reviewer, state, submitted_at } = answer
    const isNewest = newest.get(reviewer.id) === submitted_at.getTime()
    const isWithdrawn = isNewest && present.has(reviewer.id) && present.get(reviewer.id) !== state
    return { ...answer, state: isWithdrawn ? 'dismissed' : state }
  })
  return [...listed, ...participants.flatMap((one) => unlistedReview(one, listed, place) ?? [])]
}

function parseOpinion({ approved, state }: Participant): 'changes_requested' | 'approved' | null {
  if (state === 'changes_requested') return 'changes_requested'
  return approved || state === 'approved' ? 'approved' : null
}

/** Activities are listed newest first: the commit is that of the next older change. */
function hashBefore(activities: readonly Activity[], at: number): string | null {
  const older = activities.slice(at).find(({ update }) => update?.source?.commit?.hash)
  return older?.update?.source?.commit?.hash ?? null
}

/** The abbreviated hashes of the commits that were reviewed. */
function reviewedHashes(activities: readonly Activity[]): string[] {
  const hashes = activities.map((activity, at) =>
    activity.approval || activity.changes_requested ? hashBefore(activities, at) : null,
  )
  return [...new Set(hashes.filter((hash) => hash !== null))]
}

type Review = HostReview & { reviewer: HostAccount }

function parseAnswer(
  { approval, changes_requested }: Activity,
  hash: string | null,
  { repository, number, wholeHash }: ReviewPlace,
): Review | null {
  const answer = approval ?? changes_requested
  const reviewer = parseAccount(answer?.user)
  if (!answer || reviewer === null) return null
  const at = new Date(answer.date)
  return {
    repository,
    pull_request: number,
    id: reviewId(number, reviewer, at),
    reviewer,
    state: approval ? 'approved' : 'changes_requested',
    commit_sha: hash === null ? null : wholeHash(hash),
    submitted_at: at,
  }
}

/** Bitbucket's answers have no ids. */
function reviewId(number: number, { id }: HostAccount, at: Date): string {
  return `${number}_${id}_${at.getTime()}`
}

/** A present opinion that the activities do not have any more. Its commit is unknown. */
function unlistedReview(
  participant: Participant,
  listed: readonly HostReview[],
  { repository, number }: ReviewPlace,
): HostReview | null {
  const state = parseOpinion(participant)
  const reviewer = parseAccount(participant.user)
  if (state === null || reviewer === null || !participant.participated_on) return null
  if (listed.some((review) => review.reviewer?.id === reviewer.id && review.state === state)) return null
  const at = new Date(participant.participated_on)
  const id = reviewId(number, reviewer, at)
  return { repository, pull_request: number, id, reviewer, state, commit_sha: null, submitted_at: at }
}
