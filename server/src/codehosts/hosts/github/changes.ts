import { type Static, Type } from 'typebox'
import type { HostReader } from '../../code-host.ts'
import type { HostPullRequest, HostPush, HostReview } from '../../host-change.ts'
import type { HostAccount, HostRepository } from '../../host-repository.ts'
import { Id, Maybe, parseDate, parseText, readAs, Text, Timestamp } from '../../kit/payload.ts'
import { parseBranchRules, readCodeOwners } from './branch-rules.ts'
import type { GithubApi } from './client.ts'
import {
  ACCOUNT_FIELDS,
  Account,
  GraphAccount,
  isMergeQueue,
  toHostAccount,
  toHostAccountFromGraph,
} from './repositories.ts'

type ChangeReads = Pick<
  HostReader,
  | 'listPullRequests'
  | 'readPullRequest'
  | 'listPushes'
  | 'listReviews'
  | 'listChangedFiles'
  | 'readBranchRules'
  | 'readCodeOwners'
>

/** GitHub lists no more files of a pull request. */
const CHANGED_FILES_MAX = 3000

const ACTIVITY = 'GET /repos/{owner}/{repo}/activity'

export function createChangeReads(api: GithubApi): ChangeReads {
  return {
    listPullRequests: listPullRequests(api),

    listPushes: (repository, branch, options) =>
      api.readPage(ACTIVITY, { repository, ref: `refs/heads/${branch}` }, options, (activity) =>
        parseActivity(activity, repository),
      ),

    readPullRequest: (repository, number) => fetchPullRequest(api, repository, number),

    listReviews: (repository, number) =>
      api.readAll(`${PULL_REQUESTS}/{pull_number}/reviews`, { repository, pull_number: number }, (review) =>
        toHostReview(readAs(Review, review), repository, number),
      ),

    async listChangedFiles(repository, number) {
      const values = await api.readList(`${PULL_REQUESTS}/{pull_number}/files`, { repository, pull_number: number })
      if (values === null) return null
      const files = api.parseItems(values, parseChangedFile)
      const isWhole = files.length === values.length && values.length < CHANGED_FILES_MAX
      return { paths: [...new Set(files.flatMap(({ paths }) => paths))], complete: isWhole }
    },

    /** Without a rule, the branch can still have classic protection, which is not read. */
    async readBranchRules(repository, branch) {
      const rules = await api.readList('GET /repos/{owner}/{repo}/rules/branches/{branch}', { repository, branch })
      return rules === null || rules.length === 0 ? null : api.parseItem(rules, () => parseBranchRules(rules))
    },

    readCodeOwners: readCodeOwners(api),
  }
}

const ChangedFile = Type.Object({ filename: Text, status: Maybe(Text), previous_filename: Maybe(Text) })

/** The path of a file, and the former one of a moved file. The source of a copy is unchanged. */
function parseChangedFile(value: unknown): { paths: string[] } {
  const { filename, status, previous_filename: former } = readAs(ChangedFile, value)
  return { paths: former && status !== 'copied' ? [filename, former] : [filename] }
}

export const PULL_REQUESTS = 'GET /repos/{owner}/{repo}/pulls'

/** GitHub's list does not say who merged a pull request. One query adds that for a whole page. */
export function listPullRequests(api: GithubApi): HostReader['listPullRequests'] {
  return async (repository, options) => {
    const parameters = { repository, state: 'all', sort: 'updated', direction: 'desc' }
    const page = await api.readPage(PULL_REQUESTS, parameters, options, (pull) => parsePullRequest(pull, repository))
    if (page === 'not_modified') return page
    const merged = page.items.filter(({ state }) => state === 'merged')
    const mergers = await fetchMergers(api, repository, merged)
    const complete = (pull: HostPullRequest) => withMerger(api, pull, mergers)
    return { ...page, items: await Promise.all(page.items.map(complete)) }
  }
}

type Mergers = ReadonlyMap<number, HostAccount | null>

async function withMerger(api: GithubApi, pull: HostPullRequest, mergers: Mergers): Promise<HostPullRequest> {
  if (pull.state !== 'merged') return pull
  const merger = mergers.get(pull.number)
  if (merger !== undefined) return { ...pull, merged_by: merger, merged_by_queue: isMergeQueue(merger?.login) }
  return (await fetchPullRequest(api, pull.repository, pull.number)) ?? pull
}

export async function fetchPullRequest(
  api: GithubApi,
  repository: HostRepository,
  number: number,
): Promise<HostPullRequest | null> {
  const pull = await api.read(`${PULL_REQUESTS}/{pull_number}`, { repository, pull_number: number })
  return pull && parsePullRequest(pull, repository)
}

const Merged = Type.Object({ mergedBy: Type.Union([GraphAccount, Type.Null()]) })

/** Has no entry for pull requests that could not be read, and none at all if GraphQL is refused. */
async function fetchMergers(
  api: GithubApi,
  repository: HostRepository,
  pulls: readonly HostPullRequest[],
): Promise<Mergers> {
  if (pulls.length === 0) return new Map()
  const fields = pulls.map(
    ({ number }) => `p${number}: pullRequest(number: ${number}) { mergedBy { ${ACCOUNT_FIELDS} } }`,
  )
  const found = await api.queryRepository(repository, fields, {})
  return new Map(
    pulls.flatMap(({ number }): [number, HostAccount | null][] => {
      const pull = found?.[`p${number}`]
      if (!pull) return []
      const account = toHostAccountFromGraph(readAs(Merged, pull).mergedBy)
      // The names of accounts are left out, because webhooks do not contain them.
      return [[number, account && { ...account, name: null }]]
    }),
  )
}

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

export function toHostPullRequest(pull: Static<typeof PullRequest>, repository: HostRepository): HostPullRequest {
  const mergedAt = parseDate(pull.merged_at)
  return {
    repository,
    number: pull.number,
    title: parseText(pull.title) ?? '',
    url: parseText(pull.html_url),
    author: toHostAccount(pull.user),
    state: mergedAt !== null ? 'merged' : pull.state === 'open' ? 'open' : 'closed',
    draft: pull.draft ?? false,
    head: { ref: pull.head.ref, sha: pull.head.sha, repository_id: pull.head.repo ? String(pull.head.repo.id) : null },
    base: { ref: pull.base.ref, sha: pull.base.sha },
    // Before the merge, GitHub names a commit that only tries it.
    merge_commit_sha: mergedAt === null ? null : parseText(pull.merge_commit_sha),
    merged_by: toHostAccount(pull.merged_by),
    merged_by_queue: isMergeQueue(pull.merged_by?.login),
    created_at: new Date(pull.created_at),
    merged_at: mergedAt,
    closed_at: parseDate(pull.closed_at),
    updated_at: new Date(pull.updated_at),
  }
}

export function parsePullRequest(value: unknown, repository: HostRepository): HostPullRequest {
  return toHostPullRequest(readAs(PullRequest, value), repository)
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
export function toHostReview(
  review: Static<typeof Review>,
  repository: HostRepository,
  pullRequest: number,
): HostReview | null {
  const state = STATES[review.state.toLowerCase()]
  const submittedAt = parseDate(review.submitted_at)
  if (state === undefined || submittedAt === null) return null
  return {
    repository,
    pull_request: pullRequest,
    id: String(review.id),
    reviewer: toHostAccount(review.user),
    state,
    commit_sha: parseText(review.commit_id),
    submitted_at: submittedAt,
  }
}

/** A change of a ref. */
const Activity = Type.Object({
  activity_type: Text,
  ref: Text,
  before: Text,
  after: Text,
  timestamp: Timestamp,
  actor: Maybe(Account),
})

/** Null for a merged pull request, which the list of pull requests contains. */
function parseActivity(value: unknown, repository: HostRepository): HostPush | null {
  const { activity_type: type, ref, before, after, timestamp, actor } = readAs(Activity, value)
  if (type === 'pr_merge') return null
  return {
    repository,
    ref,
    before: parseSha(before),
    after: parseSha(after),
    forced: type === 'force_push',
    pusher: toHostAccount(actor),
    by_merge_queue: type === 'merge_queue_merge',
    commits: [],
    pushed_at: new Date(timestamp),
  }
}

/** Zeros stand for no commit. */
export function parseSha(sha: string): string | null {
  return /^0+$/.test(sha) ? null : sha
}
