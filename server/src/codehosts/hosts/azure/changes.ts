import { type Static, Type } from 'typebox'
import { DAY_MS } from '../../../platform/clock.ts'
import type { HostReader } from '../../code-host.ts'
import type { HostPullRequest } from '../../host-change.ts'
import type { HostRepository } from '../../host-repository.ts'
import { NO_ACCESS, parseWholeList } from '../../kit/pages.ts'
import { Id, Maybe, parseText, readAs, Text } from '../../kit/payload.ts'
import { createBranchRuleReads } from './branch-rules.ts'
import { type AzureApi, Identity, LISTED, parseAccount, parseTime, parseValues, selectLatest, Time } from './client.ts'
import { listPushes, parseCommit, toChangeCommit } from './commits.ts'
import { parseBranch } from './repositories.ts'
import {
  computeLastChange,
  fetchPullRequestPath,
  fetchThreads,
  parseIteration,
  Reviewer,
  toHostReviews,
} from './reviews.ts'
import { toPullRequestName } from './runs.ts'

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

const PAGE_CHANGES = 2000
const CHANGE_PAGES_MAX = 20

export function createChangeReads(api: AzureApi): ChangeReads {
  return {
    listPullRequests: listPullRequests(api),

    async readPullRequest(repository, number) {
      const pull = await fetchPullRequest(api, repository, number)
      return pull && toHostPullRequest(pull, computeLastChange(await fetchThreads(api, repository, number)), repository)
    },

    async listReviews(repository, number) {
      const pull = await fetchPullRequest(api, repository, number)
      const path = pull && (await fetchPullRequestPath(api, repository, number))
      if (!pull || !path) return []
      const threads = await fetchThreads(api, repository, number)
      const iterations = await api.fetchAll({ path: `${path}/iterations` }, parseIteration)
      return toHostReviews({ pull, threads, iterations, repository })
    },

    /** The newest commit comes first. */
    async listPullRequestCommits(repository, number) {
      const path = await fetchPullRequestPath(api, repository, number)
      const list = path && (await api.fetchList({ path: `${path}/commits`, query: { $top: 100 } }))
      if (!list) return null
      const { items, complete } = parseWholeList(api, list, (value) => toChangeCommit(parseCommit(value)))
      return { commits: items.reverse(), complete }
    },

    async listChangedFiles(repository, number) {
      const path = await fetchPullRequestPath(api, repository, number)
      const iterations = path && (await api.fetchList({ path: `${path}/iterations` }))
      if (!path || !iterations) return null
      const last = Math.max(0, ...api.parseItems(iterations.values, parseIteration).map(({ id }) => id))
      return last === 0 ? { paths: [], complete: true } : fetchChangedPaths(api, `${path}/iterations/${last}/changes`)
    },

    listPushes: listPushes(api),
    ...createBranchRuleReads(api),
  }
}

async function fetchPullRequest(
  api: AzureApi,
  repository: HostRepository,
  number: number,
): Promise<PullRequest | null> {
  const path = await fetchPullRequestPath(api, repository, number)
  const pull = path && (await api.fetch({ path: path.replace('/pullRequests/', '/pullrequests/') }))
  if (!pull) return null
  const parsed = parsePullRequest(pull)
  return parsed.repository?.id.toLowerCase() === repository.id ? parsed : null
}

const Changes = Type.Object({
  changeEntries: Maybe(Type.Array(Type.Unknown())),
  nextSkip: Maybe(Id),
  nextTop: Maybe(Id),
})
const Change = Type.Object({
  item: Maybe(Type.Object({ path: Maybe(Text), gitObjectType: Maybe(Text), isFolder: Maybe(Type.Boolean()) })),
  originalPath: Maybe(Text),
})

/** All changes since the common commit with the target branch. */
async function fetchChangedPaths(api: AzureApi, path: string): Promise<{ paths: string[]; complete: boolean } | null> {
  const paths: string[] = []
  let isWhole = true
  for (let skip = 0, pages = 0; ; pages += 1) {
    const query = { $top: PAGE_CHANGES, $skip: skip, $compareTo: 0 }
    const body = await api.fetch({ path, query })
    if (body === null) return null
    const { changeEntries, nextSkip } = readAs(Changes, body)
    const read = api.parseItems(changeEntries ?? [], (value) => ({ paths: parsePaths(value) }))
    isWhole = isWhole && read.length === (changeEntries ?? []).length
    paths.push(...read.flatMap((change) => change.paths))
    skip = nextSkip ?? 0
    if (skip === 0 || pages + 1 >= CHANGE_PAGES_MAX)
      return { paths: [...new Set(paths)], complete: isWhole && skip === 0 }
  }
}

/** The path of a file, and the former one of a moved file. Paths begin with a slash. */
function parsePaths(value: unknown): string[] {
  const { item, originalPath } = readAs(Change, value)
  const isFolder = item?.isFolder === true || item?.gitObjectType === 'tree'
  const paths = isFolder ? [] : [item?.path, originalPath]
  return paths.flatMap((path) => (path ? path.replace(/^\//, '') : []))
}

const PAGE_ITEMS = 100
const LIST_PAGES_MAX = 20
/**
 * The ages of closed pull requests that a page ends at, in days. The last page has all older ones.
 */
const WINDOWS = [1, 7, 30, 90, 365, null]

/**
 * Azure DevOps cannot sort pull requests by their newest change. The first page has all that are
 * open, and then those that were closed lately. Each further page has those of a longer time
 * before. `next` is the number of the window and the time that windows are counted from.
 */
function listPullRequests(api: AzureApi): HostReader['listPullRequests'] {
  return async (repository, { next }) => {
    const repositoryPath = await api.fetchRepositoryPath(repository)
    if (repositoryPath === null) return NO_ACCESS
    const path = `${repositoryPath}/pullrequests`
    const cursor = next ? readAs(Cursor, JSON.parse(next)) : { window: 0, from: api.now().toISOString() }
    const open = next ? [] : await fetchOpen(api, repository, path)
    if (open === null) return NO_ACCESS
    // The last item of a page says how far the list was read, so a page ends with a closed one.
    for (let { window } = cursor; ; window += 1) {
      const closed = await fetchClosed(api, repository, path, windowSpan(window, new Date(cursor.from)))
      const following = window + 1 < WINDOWS.length ? JSON.stringify({ ...cursor, window: window + 1 }) : null
      if (closed.length > 0 || following === null) return { items: [...open, ...closed], next: following, etag: LISTED }
    }
  }
}

const Cursor = Type.Object({
  window: Type.Integer({ minimum: 0, maximum: WINDOWS.length - 1 }),
  from: Text,
})

type Span = { minTime: string | undefined; maxTime: string | undefined }

function windowSpan(window: number, from: Date): Span {
  const before = (days: number | null | undefined) =>
    days === null || days === undefined ? undefined : new Date(from.getTime() - days * DAY_MS).toISOString()
  return { minTime: before(WINDOWS[window]), maxTime: window === 0 ? undefined : before(WINDOWS[window - 1]) }
}

async function fetchOpen(api: AzureApi, repository: HostRepository, path: string): Promise<HostPullRequest[] | null> {
  const pulls = await fetchPullRequests(api, path, { 'searchCriteria.status': 'active' })
  if (pulls === null) return null
  const read = pulls.map(async (pull) =>
    toHostPullRequest(pull, computeLastChange(await fetchThreads(api, repository, pull.pullRequestId)), repository),
  )
  return (await Promise.all(read)).sort(byChange)
}

async function fetchClosed(
  api: AzureApi,
  repository: HostRepository,
  path: string,
  { minTime, maxTime }: Span,
): Promise<HostPullRequest[]> {
  const closed = ['completed', 'abandoned'].map((status) =>
    fetchPullRequests(api, path, {
      'searchCriteria.status': status,
      'searchCriteria.queryTimeRangeType': 'closed',
      'searchCriteria.minTime': minTime,
      'searchCriteria.maxTime': maxTime,
    }),
  )
  const pulls = (await Promise.all(closed)).flatMap((list) => list ?? [])
  return pulls.map((pull) => toHostPullRequest(pull, null, repository)).sort(byChange)
}

function byChange(one: HostPullRequest, other: HostPullRequest): number {
  return other.updated_at.getTime() - one.updated_at.getTime()
}

/** Null without access to the list. */
async function fetchPullRequests(
  api: AzureApi,
  path: string,
  criteria: Record<string, string | undefined>,
): Promise<PullRequest[] | null> {
  const pulls: PullRequest[] = []
  for (let pages = 0; pages < LIST_PAGES_MAX; pages += 1) {
    const body = await api.fetch({ path, query: { ...criteria, $top: PAGE_ITEMS, $skip: pages * PAGE_ITEMS } })
    if (body === null) return null
    const values = parseValues(body)
    pulls.push(...api.parseItems(values, parsePullRequest))
    if (values.length < PAGE_ITEMS) break
  }
  return pulls
}

const CommitRef = Type.Object({ commitId: Maybe(Text) })

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
export function toHostPullRequest(
  pull: PullRequest,
  changedAt: Date | null,
  repository: HostRepository,
): HostPullRequest {
  const state = STATES[pull.status ?? ''] ?? 'open'
  const createdAt = parseTime(pull.creationDate) ?? new Date(0)
  const closedAt = state === 'open' ? null : parseTime(pull.closedDate)
  const isMerged = state === 'merged'
  const { forkSource: fork } = pull
  return {
    repository,
    number: pull.pullRequestId,
    title: parseText(pull.title) ?? '',
    url: toPullRequestName(repository, pull.pullRequestId).url,
    author: parseAccount(pull.createdBy),
    state,
    draft: pull.isDraft ?? false,
    head: {
      ref: parseBranch(pull.sourceRefName) ?? pull.sourceRefName,
      sha: pull.lastMergeSourceCommit?.commitId ?? '',
      repository_id: fork ? (fork.repository?.id.toLowerCase() ?? null) : repository.id,
    },
    base: {
      ref: parseBranch(pull.targetRefName) ?? pull.targetRefName,
      sha: pull.lastMergeTargetCommit?.commitId ?? '',
    },
    // Before the merge, this is a commit that only tries it.
    merge_commit_sha: isMerged ? parseText(pull.lastMergeCommit?.commitId) : null,
    merged_by: isMerged ? parseAccount(pull.closedBy) : null,
    merged_by_queue: false,
    created_at: createdAt,
    merged_at: isMerged ? closedAt : null,
    closed_at: closedAt,
    updated_at: selectLatest([changedAt, closedAt], createdAt),
  }
}
