import { Type } from 'typebox'
import type { HostReader } from '../../code-host.ts'
import type { HostCommitList } from '../../host-change.ts'
import type { HostRepository } from '../../host-repository.ts'
import { Id, Maybe, readAs, Text } from '../../kit/payload.ts'
import type { GithubApi, Parameters } from '../client/github-api.ts'
import { parseChangeCommit } from '../objects/commit.parser.ts'
import { PULL_REQUESTS } from './list-pull-requests.ts'

/** GitHub lists no more commits of a pull request. */
const LISTED_MAX = 250
/** Up to 10,000 commits. */
const COMPARED_PAGES_MAX = 100

export function listPullRequestCommits(api: GithubApi): HostReader['listPullRequestCommits'] {
  return async (repository, number) => {
    const values = await api.readList(`${PULL_REQUESTS}/{pull_number}/commits`, { repository, pull_number: number })
    if (values === null) return null
    const commits = api.parseItems(values, parseChangeCommit)
    const listed = { commits, complete: commits.length === values.length }
    return values.length < LISTED_MAX ? listed : completeList(api, repository, number, listed)
  }
}

const Pull = Type.Object({
  commits: Maybe(Id),
  base: Type.Object({ sha: Text }),
  head: Type.Object({ sha: Text }),
})

/** A list that GitHub may have cut is read as the comparison of both branches instead. */
async function completeList(
  api: GithubApi,
  repository: HostRepository,
  number: number,
  listed: HostCommitList,
): Promise<HostCommitList> {
  const found = await api.read(`${PULL_REQUESTS}/{pull_number}`, { repository, pull_number: number })
  const pull = found && api.parseItem(found, (value) => readAs(Pull, value))
  if (pull === null) return { ...listed, complete: false }
  if (pull.commits === listed.commits.length) return listed
  const compared = await compareCommits(api)(repository, pull.base.sha, pull.head.sha)
  // After the merge, the base branch can have commits of the pull request.
  const hasMore = compared !== null && compared.commits.length > listed.commits.length
  return hasMore ? compared : { ...listed, complete: false }
}

const COMPARE = 'GET /repos/{owner}/{repo}/compare/{base}...{head}'

const Comparison = Type.Object({ commits: Type.Array(Type.Unknown()), total_commits: Maybe(Id) })

type Compared = { values: unknown[]; total: number | null; next: string | null }

export function compareCommits(api: GithubApi): HostReader['compareCommits'] {
  return async (repository, base, head) => {
    const pages: Compared[] = []
    for (let next: string | null = ''; next !== null && pages.length < COMPARED_PAGES_MAX; ) {
      const page: Compared | null = await readCompared(api, { repository, base, head }, next)
      if (page === null) break
      pages.push(page)
      next = page.next
    }
    const last = pages.at(-1)
    return last === undefined ? null : listOf(api, pages, last)
  }
}

async function readCompared(api: GithubApi, parameters: Parameters, next: string): Promise<Compared | null> {
  const page = await api.requestPage(COMPARE, parameters, { next })
  if (page === null || page === 'not_modified') return null
  const found = api.parseItem(page.data, (value) => readAs(Comparison, value))
  return found && { values: found.commits, total: found.total_commits ?? null, next: page.next }
}

/** Servers that ignore the number of the page repeat their commits. */
function listOf(api: GithubApi, pages: readonly Compared[], last: Compared): HostCommitList {
  const values = pages.flatMap((page) => page.values)
  const bySha = new Map(api.parseItems(values, parseChangeCommit).map((commit) => [commit.sha, commit]))
  return { commits: [...bySha.values()], complete: last.next === null && bySha.size >= (last.total ?? values.length) }
}
