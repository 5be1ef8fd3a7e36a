import { type Static, Type } from 'typebox'
import type { HostRepository } from '../../host-repository.ts'
import type { HostCommit } from '../../host-run.ts'
import { Id, Maybe, readAs, Text, textOrNull } from '../../kit/payload.ts'
import type { GithubApi } from '../client/github-api.ts'
import { pullRequestName } from '../objects/run.parser.ts'
import { GraphAccount, graphAccountOf } from './graph-account.ts'
import { readAccount } from './repository-reads.ts'

export type CommitName = { sha: string; workflow_path: string | null }

/** GitHub limits the number of nodes that a query may ask for. */
const COMMITS_PER_QUERY = 50
const SHA = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/

/** Reads commits by GraphQL, many in one request. Null if GraphQL is refused. */
export async function queryCommits(
  api: GithubApi,
  repository: HostRepository,
  commits: readonly CommitName[],
): Promise<HostCommit[] | null> {
  const valid = commits.filter(({ sha }) => SHA.test(sha))
  const read: QueriedCommit[] = []
  for (let start = 0; start < valid.length; start += COMMITS_PER_QUERY) {
    const some = await queryOnce(api, repository, valid.slice(start, start + COMMITS_PER_QUERY))
    if (some === null) return null
    read.push(...some)
  }
  return withBots(api, read)
}

async function queryOnce(
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
    return commit ? [commitOf(sha, readAs(Commit, commit), repository)] : []
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

function commitOf(sha: string, commit: Static<typeof Commit>, repository: HostRepository): QueriedCommit {
  const pulls = commit.associatedPullRequests?.nodes ?? []
  const merged = pulls.find((pull) => pull?.merged && pull.mergeCommit?.oid === sha)
  return {
    sha,
    message: textOrNull(commit.message),
    author: graphAccountOf(commit.author?.user),
    merged_pull_request: merged ? pullRequestName(repository, merged.number) : null,
    workflow_blob: commit.file?.oid ?? null,
    bot: BOT_ADDRESS.exec(commit.author?.email ?? '')?.[1] ?? null,
  }
}

const BOT_ADDRESS = /^\d+\+([\w.-]+\[bot\])@users\.noreply\./

/** GraphQL gives the accounts of people only. Those of bots are read by REST, each one once. */
async function withBots(api: GithubApi, commits: QueriedCommit[]): Promise<HostCommit[]> {
  const logins = new Set(commits.flatMap(({ author, bot }) => (author === null && bot !== null ? bot : [])))
  const read = [...logins].map(async (login) => [login, await readAccount(api, login)] as const)
  const bots = new Map(await Promise.all(read))
  return commits.map(({ bot, ...commit }) => {
    const account = bots.get(bot ?? '')
    return account ? { ...commit, author: commit.author ?? { ...account, name: null } } : commit
  })
}
