import { type Static, Type } from 'typebox'
import type { HostReader } from '../../code-host.ts'
import type { HostChangeCommit, HostCommitList } from '../../host-change.ts'
import type { HostRepository } from '../../host-repository.ts'
import type { HostCommit } from '../../host-run.ts'
import { Id, Maybe, parseText, readAs, Text, Timestamp } from '../../kit/payload.ts'
import { acceptRefusal } from '../../kit/rest-error.ts'
import { PULL_REQUESTS } from './changes.ts'
import { listChecks } from './checks.ts'
import type { GithubApi, Parameters } from './client.ts'
import {
  Account,
  fetchAccount,
  formatContentsRoute,
  GraphAccount,
  toHostAccount,
  toHostAccountFromGraph,
} from './repositories.ts'
import { toPullRequestName } from './runs.ts'

type CommitReads = Pick<
  HostReader,
  'readCommits' | 'readBranchHead' | 'listPullRequestCommits' | 'compareCommits' | 'listChecks'
>

export function createCommitReads(api: GithubApi): CommitReads {
  return {
    readCommits: readCommits(api),
    readBranchHead: readBranchHead(api),
    listPullRequestCommits: listPullRequestCommits(api),
    compareCommits: compareCommits(api),
    listChecks: listChecks(api),
  }
}

/** One commit takes three requests. Above this number, one query for many commits takes fewer. */
const SINGLE_READS_MAX = 2

function readCommits(api: GithubApi): HostReader['readCommits'] {
  return async (repository, commits) => {
    const queried = commits.length > SINGLE_READS_MAX ? await fetchCommits(api, repository, commits) : null
    if (queried !== null) return queried
    const read = await Promise.all(commits.map((commit) => fetchCommit(api, repository, commit)))
    return read.filter((commit) => commit !== null)
  }
}

function readBranchHead(api: GithubApi): HostReader['readBranchHead'] {
  return async (repository, branch) => {
    const found = await api.read('GET /repos/{owner}/{repo}/commits/{ref}', { repository, ref: `heads/${branch}` })
    return found && parseText(readAs(Type.Object({ sha: Maybe(Text) }), found).sha)
  }
}

const SingleCommit = Type.Object({
  commit: Type.Object({ message: Maybe(Text) }),
  author: Maybe(Type.Union([Account, Type.Object({}, { additionalProperties: false })])),
})

async function fetchCommit(
  api: GithubApi,
  repository: HostRepository,
  { sha, workflow_path: path }: CommitName,
): Promise<HostCommit | null> {
  const found = await api.read('GET /repos/{owner}/{repo}/commits/{ref}', { repository, ref: sha })
  const merged = await fetchMergedPullRequest(api, repository, sha)
  const blob = path === null ? null : await fetchFileVersion(api, repository, { sha, path })
  if (found === null && merged === null && blob === null) return null
  return { ...describeCommit(found), sha, merged_pull_request: merged, workflow_blob: blob }
}

function describeCommit(found: unknown): Pick<HostCommit, 'message' | 'author'> {
  if (found === null) return { message: null, author: null }
  const { commit, author } = readAs(SingleCommit, found)
  return { message: parseText(commit.message), author: author && 'id' in author ? toHostAccount(author) : null }
}

const MergedPullRequest = Type.Object({ number: Id, merged_at: Maybe(Timestamp), merge_commit_sha: Maybe(Text) })

/** GitHub lists every pull request that contains the commit. Its merge created only one. */
async function fetchMergedPullRequest(
  api: GithubApi,
  repository: HostRepository,
  sha: string,
): Promise<HostCommit['merged_pull_request']> {
  const route = 'GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls'
  const pulls = await api.readAll(route, { repository, commit_sha: sha }, (pull) => readAs(MergedPullRequest, pull))
  const merged = pulls.find((pull) => pull.merged_at && pull.merge_commit_sha === sha)
  return merged ? toPullRequestName(repository, merged.number) : null
}

async function fetchFileVersion(
  api: GithubApi,
  repository: HostRepository,
  { sha, path }: { sha: string; path: string },
): Promise<string | null> {
  const file = await api.read(formatContentsRoute(path), { repository, ref: sha })
  if (file === null || Array.isArray(file)) return null
  return parseText(readAs(Type.Object({ sha: Maybe(Text) }), file).sha)
}

type CommitName = { sha: string; workflow_path: string | null }

/** GitHub limits the number of nodes that a query may ask for. */
const COMMITS_PER_QUERY = 50

const SHA = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/

/** Reads commits by GraphQL, many in one request. Null if GraphQL is refused. */
async function fetchCommits(
  api: GithubApi,
  repository: HostRepository,
  commits: readonly CommitName[],
): Promise<HostCommit[] | null> {
  const valid = commits.filter(({ sha }) => SHA.test(sha))
  const read: QueriedCommit[] = []
  for (let start = 0; start < valid.length; start += COMMITS_PER_QUERY) {
    const some = await fetchBatch(api, repository, valid.slice(start, start + COMMITS_PER_QUERY))
    if (some === null) return null
    read.push(...some)
  }
  return withBots(api, read)
}

async function fetchBatch(
  api: GithubApi,
  repository: HostRepository,
  commits: CommitName[],
): Promise<QueriedCommit[] | null> {
  const paths = [...new Set(commits.flatMap(({ workflow_path: path }) => path ?? []))]
  const fields = commits.map(({ sha, workflow_path: path }, index) => {
    const file = path === null ? '' : `file(path: $path${paths.indexOf(path)}) { oid }`
    return `c${index}: object(oid: "${sha}") { ... on Commit { ${FIELDS} ${file} } }`
  })
  const variables = Object.fromEntries(paths.map((path, index) => [`path${index}`, path]))
  const found = await api.queryRepository(repository, fields, variables)
  if (found === null) return null
  return commits.flatMap(({ sha }, index) => {
    const commit = found[`c${index}`]
    return commit ? [toHostCommit(sha, readAs(Commit, commit), repository)] : []
  })
}

const FIELDS = `message
  author { email user { databaseId login name avatarUrl url } }
  associatedPullRequests(first: 10) { nodes { number merged mergeCommit { oid } } }`

const PullRequest = Type.Object({
  number: Id,
  merged: Maybe(Type.Boolean()),
  mergeCommit: Maybe(Type.Object({ oid: Text })),
})

const Commit = Type.Object({
  message: Maybe(Text),
  author: Maybe(Type.Object({ email: Maybe(Text), user: Maybe(GraphAccount) })),
  associatedPullRequests: Maybe(Type.Object({ nodes: Maybe(Type.Array(Maybe(PullRequest))) })),
  file: Maybe(Type.Object({ oid: Text })),
})

/** `bot` is the login of the bot that wrote the commit, if it was one. */
type QueriedCommit = HostCommit & { bot: string | null }

function toHostCommit(sha: string, commit: Static<typeof Commit>, repository: HostRepository): QueriedCommit {
  const pulls = commit.associatedPullRequests?.nodes ?? []
  const merged = pulls.find((pull) => pull?.merged && pull.mergeCommit?.oid === sha)
  return {
    sha,
    message: parseText(commit.message),
    author: toHostAccountFromGraph(commit.author?.user),
    merged_pull_request: merged ? toPullRequestName(repository, merged.number) : null,
    workflow_blob: commit.file?.oid ?? null,
    bot: BOT_ADDRESS.exec(commit.author?.email ?? '')?.[1] ?? null,
  }
}

const BOT_ADDRESS = /^\d+\+([\w.-]+\[bot\])@users\.noreply\./

/** GraphQL gives the accounts of people only. Those of bots are read by REST, each one once. */
async function withBots(api: GithubApi, commits: QueriedCommit[]): Promise<HostCommit[]> {
  const logins = new Set(commits.flatMap(({ author, bot }) => (author === null && bot !== null ? bot : [])))
  const read = [...logins].map(async (login) => [login, await fetchAccount(api, login)] as const)
  const bots = new Map(await Promise.all(read))
  return commits.map(({ bot, ...commit }) => {
    const account = bots.get(bot ?? '')
    return account ? { ...commit, author: commit.author ?? { ...account, name: null } } : commit
  })
}

/** GitHub lists no more commits of a pull request. */
const LISTED_MAX = 250

/** Up to 10,000 commits. */
const COMPARED_PAGES_MAX = 100

function listPullRequestCommits(api: GithubApi): HostReader['listPullRequestCommits'] {
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

function compareCommits(api: GithubApi): HostReader['compareCommits'] {
  return async (repository, base, head) => {
    const pages: Compared[] = []
    for (let next: string | null = ''; next !== null && pages.length < COMPARED_PAGES_MAX; ) {
      const page: Compared | null = await fetchCompared(api, { repository, base, head }, next)
      if (page === null) break
      pages.push(page)
      next = page.next
    }
    const last = pages.at(-1)
    return last === undefined ? null : toCommitList(api, pages, last)
  }
}

async function fetchCompared(api: GithubApi, parameters: Parameters, next: string): Promise<Compared | null> {
  const page = await acceptRefusal(api.requestPage(COMPARE, parameters, { next }), 'any')
  if (page === null || page === 'not_modified') return null
  const found = api.parseItem(page.data, (value) => readAs(Comparison, value))
  return found && { values: found.commits, total: found.total_commits ?? null, next: page.next }
}

/** Servers that ignore the number of the page repeat their commits. */
function toCommitList(api: GithubApi, pages: readonly Compared[], last: Compared): HostCommitList {
  const values = pages.flatMap((page) => page.values)
  const bySha = new Map(api.parseItems(values, parseChangeCommit).map((commit) => [commit.sha, commit]))
  return { commits: [...bySha.values()], complete: last.next === null && bySha.size >= (last.total ?? values.length) }
}

/** Name and address as the commit itself has them. */
const Person = Type.Object({ name: Maybe(Text), email: Maybe(Text) })

/** The account of the address: null, or an object without fields, if it belongs to none. */
const LinkedAccount = Type.Object({ id: Maybe(Id), login: Maybe(Text) })

const ListedCommit = Type.Object({
  sha: Text,
  commit: Type.Object({
    message: Maybe(Text),
    author: Maybe(Person),
    committer: Maybe(Person),
    verification: Maybe(Type.Object({ verified: Type.Boolean(), reason: Maybe(Text) })),
  }),
  author: Maybe(LinkedAccount),
  committer: Maybe(LinkedAccount),
})

function parseChangeCommit(value: unknown): HostChangeCommit {
  const { sha, commit, author, committer } = readAs(ListedCommit, value)
  const { verification } = commit
  return {
    sha,
    message: parseText(commit.message) ?? '',
    author: parsePerson(commit.author, author),
    committer: parsePerson(commit.committer, committer),
    signature: verification
      ? { verified: verification.verified, reason: parseText(verification.reason) ?? 'unknown' }
      : null,
  }
}

function parsePerson(
  person: Static<typeof Person> | null | undefined,
  account: Static<typeof LinkedAccount> | null | undefined,
): HostChangeCommit['author'] {
  return {
    name: parseText(person?.name) ?? '',
    email: parseText(person?.email),
    id: account?.id ? String(account.id) : null,
    login: parseText(account?.login),
  }
}
