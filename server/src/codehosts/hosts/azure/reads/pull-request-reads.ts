import { Type } from 'typebox'
import type { HostReader } from '../../../code-host.ts'
import type { HostRepository } from '../../../host-repository.ts'
import { Id, Maybe, readAs, Text } from '../../../kit/payload.ts'
import type { AzureApi } from '../client.ts'
import { changeCommitOf, parseCommit } from '../objects/commit.parser.ts'
import { type PullRequest, parsePullRequest, pullRequestOf } from '../objects/pull-request.parser.ts'
import { lastChange, parseIteration, reviewsOf } from '../reviews.ts'
import { listPullRequests } from '../changes.ts'
import { pullRequestPath, readThreads } from './read-threads.ts'

type PullRequestReads = Pick<
  HostReader,
  'listPullRequests' | 'readPullRequest' | 'listReviews' | 'listChangedFiles' | 'listPullRequestCommits'
>

const PAGE_CHANGES = 2000
const PAGES_MAX = 20

export function pullRequestReads(api: AzureApi): PullRequestReads {
  return {
    listPullRequests: listPullRequests(api),

    async readPullRequest(repository, number) {
      const pull = await readRaw(api, repository, number)
      return pull && pullRequestOf(pull, lastChange(await readThreads(api, repository, number)), repository)
    },

    async listReviews(repository, number) {
      const pull = await readRaw(api, repository, number)
      const path = pull && (await pullRequestPath(api, repository, number))
      if (!pull || !path) return []
      const threads = await readThreads(api, repository, number)
      const iterations = await api.readAll({ path: `${path}/iterations` }, parseIteration)
      return reviewsOf({ pull, threads, iterations, repository })
    },

    /** The newest commit comes first. */
    async listPullRequestCommits(repository, number) {
      const path = await pullRequestPath(api, repository, number)
      const list = path && (await api.readList({ path: `${path}/commits`, query: { $top: 100 } }))
      if (!list) return null
      const commits = api.parseItems(list.values, (value) => changeCommitOf(parseCommit(value)))
      return { commits: commits.reverse(), complete: list.complete && commits.length === list.values.length }
    },

    async listChangedFiles(repository, number) {
      const path = await pullRequestPath(api, repository, number)
      const iterations = path && (await api.readList({ path: `${path}/iterations` }))
      if (!path || !iterations) return null
      const last = Math.max(0, ...api.parseItems(iterations.values, parseIteration).map(({ id }) => id))
      return last === 0 ? { paths: [], complete: true } : readChanges(api, `${path}/iterations/${last}/changes`)
    },
  }
}

async function readRaw(api: AzureApi, repository: HostRepository, number: number): Promise<PullRequest | null> {
  const path = await pullRequestPath(api, repository, number)
  const pull = path && (await api.read({ path: path.replace('/pullRequests/', '/pullrequests/') }))
  if (!pull) return null
  const read = parsePullRequest(pull)
  return read.repository?.id.toLowerCase() === repository.id ? read : null
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
async function readChanges(api: AzureApi, path: string): Promise<{ paths: string[]; complete: boolean } | null> {
  const paths: string[] = []
  let isWhole = true
  for (let skip = 0, pages = 0; ; pages += 1) {
    const query = { $top: PAGE_CHANGES, $skip: skip, $compareTo: 0 }
    const body = await api.read({ path, query })
    if (body === null) return null
    const { changeEntries, nextSkip } = readAs(Changes, body)
    const read = api.parseItems(changeEntries ?? [], (value) => ({ paths: pathsOf(value) }))
    isWhole = isWhole && read.length === (changeEntries ?? []).length
    paths.push(...read.flatMap((change) => change.paths))
    skip = nextSkip ?? 0
    if (skip === 0 || pages + 1 >= PAGES_MAX) return { paths: [...new Set(paths)], complete: isWhole && skip === 0 }
  }
}

/** The path of a file, and the former one of a moved file. Paths begin with a slash. */
function pathsOf(value: unknown): string[] {
  const { item, originalPath } = readAs(Change, value)
  const isFolder = item?.isFolder === true || item?.gitObjectType === 'tree'
  const paths = isFolder ? [] : [item?.path, originalPath]
  return paths.flatMap((path) => (path ? path.replace(/^\//, '') : []))
}
