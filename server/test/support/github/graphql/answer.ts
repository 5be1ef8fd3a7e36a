import type { Account, Commit, PullRequest, Repository } from '../../hosts/types.ts'
import { fullName } from '../../hosts/world.ts'
import { ACCOUNT_TYPES } from '../objects/accounts.ts'
import { blobSha } from '../objects/commit.ts'
import { pageUrl } from '../objects/urls.ts'
import type { Installation } from '../types.ts'
import type { GitHubWorld } from '../world.ts'
import { parseQuery, type Selection } from './parse-query.ts'

/** An object of the graph: values, or functions of the arguments. */
type Node = Record<string, unknown>

/** Answers queries about the commits of a repository, with the names of GitHub's schema. */
export function answerGraphql(
  world: GitHubWorld,
  installation: Installation,
  { query, variables = {} }: { query: string; variables?: Record<string, unknown> },
): unknown {
  const errors: { message: string; type?: string }[] = []
  const root: Node = {
    repository: ({ owner, name }: { owner: string; name: string }) => {
      const found = world.findRepository(owner, name)
      if (found !== undefined && installation.covers(found.repository)) return repositoryNode(world, found.repository)
      errors.push({ type: 'NOT_FOUND', message: `Could not resolve to a Repository with the name '${owner}/${name}'.` })
      return null
    },
    rateLimit: { cost: 1, remaining: 4999, limit: 5000, resetAt: world.now(), __typename: 'RateLimit' },
  }
  const data = select(world, root, parseQuery(query, variables))
  return errors.length === 0 ? { data } : { data, errors }
}

function select(world: GitHubWorld, node: Node, fields: Selection[]): Record<string, unknown> {
  const chosen = fields.flatMap((field): [string, unknown][] => {
    if (field.on !== null) return field.on === node.__typename ? Object.entries(select(world, node, field.fields)) : []
    if (!(field.name in node)) {
      world.violations.push(`GraphQL: the fake has no field ${node.__typename ?? 'Query'}.${field.name}`)
      return [[field.alias, null]]
    }
    const value = node[field.name]
    return [[field.alias, shown(world, typeof value === 'function' ? value(field.args) : value, field.fields)]]
  })
  return Object.fromEntries(chosen)
}

function shown(world: GitHubWorld, value: unknown, fields: Selection[]): unknown {
  if (Array.isArray(value)) return value.map((item) => shown(world, item, fields))
  return value === null || fields.length === 0 ? value : select(world, value as Node, fields)
}

function repositoryNode(world: GitHubWorld, repository: Repository): Node {
  return {
    __typename: 'Repository',
    id: `R_${repository.id}`,
    databaseId: repository.id,
    name: repository.name,
    nameWithOwner: fullName(repository),
    pullRequest: ({ number }: { number: number }) => {
      const pull = repository.pullRequests.find((one) => one.number === number)
      return pull === undefined ? null : pullNode(world, repository, pull)
    },
    object: ({ oid, expression }: { oid?: string; expression?: string }) => {
      const [ref = '', path] = (oid ?? expression ?? '').split(':')
      const sha = repository.refs.get(`refs/heads/${ref}`) ?? ref
      const commit = repository.commits.get(sha)
      if (commit === undefined) return null
      return path === undefined ? commitNode(world, repository, commit) : fileNode(commit, path)
    },
  }
}

function commitNode(world: GitHubWorld, repository: Repository, commit: Commit): Node {
  const url = `${pageUrl(world, repository)}/commit/${commit.sha}`
  // GitHub gives accounts of people only.
  const account = commit.account?.type === 'person' ? accountNode(world, commit.account) : null
  const committer = commit.committerAccount?.type === 'person' ? accountNode(world, commit.committerAccount) : null
  const author = { __typename: 'GitActor', ...commit.author, date: commit.at, user: account }
  const pulls = repository.pullRequests.filter(
    (pull) => pull.merge_commit_sha === commit.sha || pull.head.sha === commit.sha,
  )
  return {
    __typename: 'Commit',
    oid: commit.sha,
    message: commit.message,
    messageHeadline: commit.message.split('\n')[0],
    url,
    commitUrl: url,
    authoredDate: commit.at,
    committedDate: commit.at,
    author,
    committer: { __typename: 'GitActor', ...commit.committer, date: commit.at, user: committer },
    associatedPullRequests: ({ first = 100 }: { first?: number }) => ({
      __typename: 'PullRequestConnection',
      totalCount: pulls.length,
      nodes: pulls.slice(0, first).map((pull) => pullNode(world, repository, pull)),
    }),
    file: ({ path }: { path: string }) => entryNode(commit, path),
  }
}

function entryNode(commit: Commit, path: string): Node | null {
  const blob = fileNode(commit, path)
  if (blob === null) return null
  const name = path.split('/').at(-1)
  return { __typename: 'TreeEntry', name, path, type: 'blob', oid: blob.oid, object: blob }
}

function fileNode(commit: Commit, path: string): Node | null {
  const text = commit.files.get(path)
  if (text === undefined) return null
  return { __typename: 'Blob', oid: blobSha(text), text, byteSize: Buffer.byteLength(text), isBinary: false }
}

function accountNode({ api, html }: GitHubWorld, { id, login, name, type }: Account): Node {
  const avatar = `https://avatars.githubusercontent.com/u/${id}?v=4`
  const url = `${html}/${login}`
  return {
    __typename: ACCOUNT_TYPES[type],
    id: `U_${id}`,
    databaseId: id,
    login,
    name,
    avatarUrl: avatar,
    url,
    resourcePath: `${api}/${login}`,
  }
}

function pullNode(world: GitHubWorld, repository: Repository, pull: PullRequest): Node {
  const { number, title, merged_at, created_at, closed_at, merge_commit_sha } = pull
  return {
    __typename: 'PullRequest',
    id: `PR_${pull.id}`,
    databaseId: pull.id,
    number,
    title,
    url: `${pageUrl(world, repository)}/pull/${number}`,
    state: pull.state.toUpperCase(),
    merged: merged_at !== null,
    mergedAt: merged_at,
    createdAt: created_at,
    closedAt: closed_at,
    headRefOid: pull.head.sha,
    headRefName: pull.head.ref,
    baseRefName: pull.base.ref,
    mergeCommit: merge_commit_sha === null ? null : { __typename: 'Commit', oid: merge_commit_sha },
    author: accountNode(world, pull.author),
    mergedBy: pull.merged_by === null ? null : accountNode(world, pull.merged_by),
  }
}
