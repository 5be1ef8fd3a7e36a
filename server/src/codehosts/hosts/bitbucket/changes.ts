import { mapSideBySide } from '../../../platform/side-by-side.ts'
import type { HostReader } from '../../code-host.ts'
import type { HostCommitList, HostPullRequest } from '../../host-change.ts'
import type { HostRepository } from '../../host-repository.ts'
import { readAs } from '../../kit/payload.ts'
import { restPath } from '../../kit/rest-client.ts'
import type { BitbucketApi } from './client.ts'
import { WholeHashes } from './client/whole-hashes.ts'
import { parseChangeCommit } from './objects/commit.parser.ts'
import { parseDiffstat } from './objects/diffstat.parser.ts'
import { hashesOf, PullRequest, parsePullRequest } from './objects/pull-request.parser.ts'
import { closedAtOf, parseActivity, reviewedHashes, reviewsOf } from './objects/pull-request-activity.ts'

type PullRequestReads = Pick<
  HostReader,
  | 'listPullRequests'
  | 'readPullRequest'
  | 'listReviews'
  | 'listPullRequestCommits'
  | 'compareCommits'
  | 'listChangedFiles'
>

/** Bitbucket lists no more pull requests on a page. */
const PAGE_PULL_REQUESTS = 50
const STATES = ['OPEN', 'MERGED', 'DECLINED', 'SUPERSEDED']
const READS_AT_ONCE = 4
/** Comments are activities too, and can be many. */
const ACTIVITY_PAGES_MAX = 10
const ACTIVITY_ITEMS = 50

export function pullRequestReads(api: BitbucketApi): PullRequestReads {
  const hashes = new WholeHashes(api)
  const place = { api, hashes }
  return {
    async listPullRequests(repository, options) {
      const query = { state: STATES, sort: '-updated_on', pagelen: PAGE_PULL_REQUESTS }
      const page = await api.readPage({ path: api.pathOf(repository, '/pullrequests'), query }, options, (pull) => pull)
      const items = await mapSideBySide(page.items, READS_AT_ONCE, (pull) => completed(place, repository, pull))
      return { ...page, items: items.filter((pull) => pull !== null) }
    },

    async readPullRequest(repository, number) {
      const pull = await api.read(pullRequestPath(api, repository, number))
      return pull && completed(place, repository, pull)
    },

    async listReviews(repository, number) {
      const pull = await api.read(pullRequestPath(api, repository, number))
      if (pull === null) return []
      const activities = await listActivities(api, repository, number)
      const wholeHash = await hashes.of(repository, reviewedHashes(activities))
      return reviewsOf(pull, activities, { repository, number, wholeHash })
    },

    listPullRequestCommits: (repository, number) =>
      listCommits(api, { path: `${pullRequestPath(api, repository, number)}/commits` }),

    compareCommits: (repository, base, head) =>
      listCommits(api, { path: api.pathOf(repository, restPath`/commits/${head}`), query: { exclude: base } }),

    /** Bitbucket redirects to the comparison of both branches, whose first page holds 500 files. */
    async listChangedFiles(repository, number) {
      const found = await api.readList(
        { path: `${pullRequestPath(api, repository, number)}/diffstat`, query: DIFFSTAT },
        1,
      )
      if (found === null) return null
      const files = api.parseItems(found.values, parseDiffstat)
      const isWhole = found.complete && files.length === found.values.length
      return { paths: [...new Set(files.flatMap(({ paths }) => paths))], complete: isWhole }
    },
  }
}

const DIFFSTAT = { pagelen: 500 }

function pullRequestPath(api: BitbucketApi, repository: HostRepository, number: number): string {
  return api.pathOf(repository, `/pullrequests/${number}`)
}

type Place = { api: BitbucketApi; hashes: WholeHashes }

/** Adds what the pull request itself does not say. */
async function completed(
  { api, hashes }: Place,
  repository: HostRepository,
  value: unknown,
): Promise<HostPullRequest | null> {
  const pull = api.parseItem(value, (item) => readAs(PullRequest, item))
  if (pull === null) return null
  const wholeHash = await hashes.of(repository, hashesOf(value))
  const activities = pull.state === 'OPEN' ? [] : await listActivities(api, repository, pull.id)
  return parsePullRequest(value, repository, { closed_at: closedAtOf(activities), wholeHash })
}

/** Newest first. */
async function listActivities(api: BitbucketApi, repository: HostRepository, number: number) {
  const path = `${pullRequestPath(api, repository, number)}/activity`
  const found = await api.readList({ path, query: { pagelen: ACTIVITY_ITEMS } }, ACTIVITY_PAGES_MAX)
  return api.parseItems(found?.values ?? [], parseActivity)
}

/** Bitbucket lists the newest commit first. */
async function listCommits(
  api: BitbucketApi,
  list: { path: string; query?: Record<string, string> },
): Promise<HostCommitList | null> {
  const found = await api.readList(list)
  if (found === null) return null
  const commits = api.parseItems(found.values, parseChangeCommit)
  return { commits: commits.reverse(), complete: found.complete && commits.length === found.values.length }
}
