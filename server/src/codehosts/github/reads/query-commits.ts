import { type Static, Type } from 'typebox'
import type { HostAccount, HostRepository } from '../../host-repository.ts'
import type { HostCommit } from '../../host-run.ts'
import type { GithubApi } from '../client/github-api.ts'
import { Id, Maybe, readAs, Text, textOrNull } from '../objects/payload.ts'
import { pullRequestName } from '../objects/run.parser.ts'

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
  const read: HostCommit[] = []
  for (let start = 0; start < valid.length; start += COMMITS_PER_QUERY) {
    const some = await queryOnce(api, repository, valid.slice(start, start + COMMITS_PER_QUERY))
    if (some === null) return null
    read.push(...some)
  }
  return read
}

async function queryOnce(
  api: GithubApi,
  repository: HostRepository,
  commits: CommitName[],
): Promise<HostCommit[] | null> {
  const [owner, name] = repository.full_name.split('/')
  const paths = [...new Set(commits.flatMap(({ workflow_path: path }) => path ?? []))]
  const variables = Object.fromEntries(paths.map((path, index) => [`path${index}`, path]))
  const data = await api.query(queryFor(commits, paths), { owner, name, ...variables })
  const found = data?.repository as Record<string, unknown> | null | undefined
  if (!found) return null
  return commits.flatMap(({ sha }, index) => {
    const commit = found[`c${index}`]
    return commit ? [commitOf(sha, readAs(Commit, commit), repository)] : []
  })
}

const FIELDS = `message
      author { user { databaseId login name avatarUrl url } }
      associatedPullRequests(first: 10) { nodes { number merged mergeCommit { oid } } }`

function queryFor(commits: CommitName[], paths: string[]): string {
  const variables = ['$owner: String!', '$name: String!', ...paths.map((_, index) => `$path${index}: String!`)]
  const fields = commits.map(({ sha, workflow_path: path }, index) => {
    const file = path === null ? '' : `file(path: $path${paths.indexOf(path)}) { oid }`
    return `c${index}: object(oid: "${sha}") { ... on Commit { ${FIELDS} ${file} } }`
  })
  return `query(${variables.join(', ')}) { repository(owner: $owner, name: $name) { ${fields.join('\n')} } }`
}

const User = Type.Object({
  databaseId: Id,
  login: Text,
  name: Maybe(Text),
  avatarUrl: Maybe(Text),
  url: Maybe(Text),
})

const PullRequest = Type.Object({
  number: Id,
  merged: Maybe(Type.Boolean()),
  mergeCommit: Maybe(Type.Object({ oid: Text })),
})

const Commit = Type.Object({
  message: Maybe(Text),
  author: Maybe(Type.Object({ user: Maybe(User) })),
  associatedPullRequests: Maybe(Type.Object({ nodes: Maybe(Type.Array(Maybe(PullRequest))) })),
  file: Maybe(Type.Object({ oid: Text })),
})

function commitOf(sha: string, commit: Static<typeof Commit>, repository: HostRepository): HostCommit {
  const pulls = commit.associatedPullRequests?.nodes ?? []
  const merged = pulls.find((pull) => pull?.merged && pull.mergeCommit?.oid === sha)
  return {
    sha,
    message: textOrNull(commit.message),
    author: accountOf(commit.author?.user),
    merged_pull_request: merged ? pullRequestName(repository, merged.number) : null,
    workflow_blob: commit.file?.oid ?? null,
  }
}

/** GraphQL gives accounts of people only: commits of bots have no account here. */
function accountOf(user: Static<typeof User> | null | undefined): HostAccount | null {
  if (!user) return null
  return {
    id: String(user.databaseId),
    login: user.login,
    name: textOrNull(user.name),
    avatar_url: textOrNull(user.avatarUrl),
    url: textOrNull(user.url),
    is_bot: false,
  }
}
