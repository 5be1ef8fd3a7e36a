import { type Static, Type } from 'typebox'
import { collectConcurrently } from '../../../platform/concurrency.ts'
import type { HostReader } from '../../code-host.ts'
import type { HostChangeCommit } from '../../host-change.ts'
import type { HostRepository } from '../../host-repository.ts'
import type { HostCheck, HostCommit, HostRunStatus } from '../../host-run.ts'
import { parseWholeList } from '../../kit/pages.ts'
import { Id, Maybe, parseDate, parseText, readAs, Text, Timestamp } from '../../kit/payload.ts'
import { encodePath } from '../../kit/rest-client.ts'
import type { BitbucketApi } from './client.ts'
import { Account, parseAccount } from './repositories.ts'
import { toPullRequestName } from './runs.ts'

type CommitReads = Pick<HostReader, 'readCommits' | 'readBranchHead' | 'compareCommits' | 'listChecks'>

const CONCURRENT_READS = 4

export function createCommitReads(api: BitbucketApi): CommitReads {
  return {
    async readCommits(repository, commits) {
      const found = await collectConcurrently(commits, CONCURRENT_READS, ({ sha }) => fetchCommit(api, repository, sha))
      return found.filter((commit) => commit !== null)
    },

    async readBranchHead(repository, branch) {
      const segments = branch.split('/').map((segment) => encodeURIComponent(segment))
      const found = await api.fetch(api.repositoryPath(repository, `/refs/branches/${segments.join('/')}`))
      return found && parseText(readAs(Branch, found).target?.hash)
    },

    /** Bitbucket lists the newest commit first. */
    async compareCommits(repository, base, head) {
      const path = api.repositoryPath(repository, encodePath`/commits/${head}`)
      const found = await api.fetchList({ path, query: { exclude: base } })
      if (found === null) return null
      const { items, complete } = parseWholeList(api, found, parseChangeCommit)
      return { commits: items.reverse(), complete }
    },

    listChecks: (repository, commitSha) =>
      api.fetchAll({ path: api.repositoryPath(repository, encodePath`/commit/${commitSha}/statuses`) }, (status) =>
        parseBuildStatus(status, repository, commitSha),
      ),
  }
}

const Branch = Type.Object({ target: Maybe(Type.Object({ hash: Maybe(Text) })) })

/** Steps of Pipelines run in the order of the file, so no workflow file is read for their needs. */
async function fetchCommit(api: BitbucketApi, repository: HostRepository, sha: string): Promise<HostCommit | null> {
  const found = await api.fetch(api.repositoryPath(repository, encodePath`/commit/${sha}`))
  if (found === null) return null
  const commit = readAs(Commit, found)
  return {
    sha,
    message: parseText(commit.message),
    author: parseAccount(commit.author?.user),
    merged_pull_request: await fetchMergedPullRequest(api, repository, commit),
    workflow_blob: null,
  }
}

/** Bitbucket's own messages of merges: `Merged in topic (pull request #7)`. */
const MERGE_MESSAGE = /\(pull request #([1-9]\d{0,9})\)/

const Merged = Type.Object({ id: Id, state: Text, merge_commit: Maybe(Type.Object({ hash: Maybe(Text) })) })

/**
 * The pull request whose merge created the commit. Its message only says which one is asked; where
 * the message is another one, Bitbucket's index of commits is asked, which it does not always have.
 */
async function fetchMergedPullRequest(
  api: BitbucketApi,
  repository: HostRepository,
  { hash, message }: Static<typeof Commit>,
): Promise<HostCommit['merged_pull_request']> {
  const number = MERGE_MESSAGE.exec(message ?? '')?.[1]
  const named = number === undefined ? null : await api.fetch(api.repositoryPath(repository, `/pullrequests/${number}`))
  const index = api.repositoryPath(repository, encodePath`/commit/${hash}/pullrequests`)
  const pulls = named === null ? (await api.fetchRawPage({ path: index }, null))?.values : [named]
  const found = api.parseItems(pulls ?? [], (pull) => readAs(Merged, pull))
  // The hash of the merge is abbreviated.
  const merged = found.find(
    ({ state, merge_commit: merge }) => state === 'MERGED' && merge?.hash && hash.startsWith(merge.hash),
  )
  return merged ? toPullRequestName(repository, merged.id) : null
}

const HASH_CHARS = 40
const HASHES_MAX = 10_000

const Found = Type.Object({ hash: Text })

/**
 * Pull requests name commits by the first twelve characters of their hashes. The whole ones are
 * looked up, and kept, because they never change.
 */
export class WholeHashes {
  readonly #api: BitbucketApi
  readonly #whole = new Map<string, string>()

  constructor(api: BitbucketApi) {
    this.#api = api
  }

  /** The whole hash of each; a hash whose commit cannot be read stays as it is. */
  async fetchAll(repository: HostRepository, hashes: readonly string[]): Promise<(hash: string) => string> {
    const missing = new Set(hashes.filter((hash) => hash.length < HASH_CHARS && !this.#whole.has(hash)))
    await collectConcurrently([...missing], CONCURRENT_READS, (hash) => this.#fetch(repository, hash))
    return (hash) => this.#whole.get(hash) ?? hash
  }

  async #fetch(repository: HostRepository, hash: string): Promise<void> {
    const path = this.#api.repositoryPath(repository, encodePath`/commit/${hash}`)
    const found = await this.#api.fetch(path, { fields: 'hash' })
    const whole = found && this.#api.parseItem(found, (value) => readAs(Found, value).hash)
    if (!whole?.startsWith(hash)) return
    const [oldest] = this.#whole.keys()
    if (oldest !== undefined && this.#whole.size >= HASHES_MAX) this.#whole.delete(oldest)
    this.#whole.set(hash, whole)
  }
}

/** `raw`: name and address as the commit itself has them: `Ada <ada@example.com>`. */
const Author = Type.Object({ raw: Maybe(Text), user: Maybe(Account) })

export const Commit = Type.Object({
  hash: Text,
  date: Maybe(Timestamp),
  message: Maybe(Text),
  author: Maybe(Author),
  committer: Maybe(Author),
})

/** Where Bitbucket does not name the committer, the author stands for it. */
export function parseChangeCommit(value: unknown): HostChangeCommit {
  const commit = readAs(Commit, value)
  return {
    sha: commit.hash,
    message: parseText(commit.message) ?? '',
    author: parseAuthor(commit.author),
    committer: parseAuthor(commit.committer ?? commit.author),
    signature: null,
  }
}

/** The parts of `Ada <ada@example.com>`; none if the text has another form. */
function parseRaw(raw: string): { name?: string; email?: string } {
  const text = raw.trim()
  const start = text.lastIndexOf('<')
  const email = text.slice(start + 1, -1)
  if (start < 0 || !text.endsWith('>') || email.includes('>')) return {}
  return { name: text.slice(0, start).trim(), email }
}

function parseAuthor(author: Static<typeof Author> | null | undefined): HostChangeCommit['author'] {
  const { name, email } = parseRaw(author?.raw ?? '')
  const account = parseAccount(author?.user)
  return {
    name: parseText(name ?? author?.raw) ?? '',
    email: parseText(email),
    id: account?.id ?? null,
    login: account?.login ?? null,
  }
}

const BuildStatus = Type.Object({
  key: Text,
  name: Maybe(Text),
  state: Text,
  url: Maybe(Text),
  created_on: Maybe(Timestamp),
  updated_on: Maybe(Timestamp),
})

/** The states of a build status, by Pipelines or another service. */
const BUILD_STATES: Readonly<Record<string, HostRunStatus>> = {
  SUCCESSFUL: 'success',
  FAILED: 'failure',
  INPROGRESS: 'in_progress',
  STOPPED: 'cancelled',
}

const PIPELINES = 'bitbucket-pipelines'

/**
 * A build status of a commit. Those of Pipelines have the number of the pipeline in their name, so
 * they have one name of their own.
 */
function parseBuildStatus(value: unknown, repository: HostRepository, commitSha: string): HostCheck {
  const reported = readAs(BuildStatus, value)
  const status = BUILD_STATES[reported.state] ?? 'failure'
  const isPipeline = parsePipelineNumber(reported.url, repository.full_name) !== null
  return {
    repository,
    commit_sha: commitSha,
    id: reported.key,
    name: isPipeline ? PIPELINES : (parseText(reported.name) ?? reported.key),
    source: isPipeline ? PIPELINES : 'commit_status',
    status,
    url: parseText(reported.url),
    started_at: parseDate(reported.created_on),
    completed_at: status === 'in_progress' ? null : parseDate(reported.updated_on),
  }
}

/** The forms of the address of a pipeline. */
const RESULT_PATH = /\/(?:addon\/)?pipelines\/(?:home#!\/)?results\/([1-9]\d{0,15})(?:[/?]|$)/

/**
 * The number of the pipeline of this repository that a build status leads to. Anyone who may write
 * build statuses chooses the address, so it only says which pipeline is to be read.
 */
export function parsePipelineNumber(address: string | null | undefined, fullName: string): string | null {
  if (!address || !URL.canParse(address)) return null
  const { pathname, hash } = new URL(address)
  const prefix = `/${fullName.toLowerCase()}/`
  if (!pathname.toLowerCase().startsWith(prefix)) return null
  return RESULT_PATH.exec(`${pathname.slice(prefix.length - 1)}${hash}`)?.[1] ?? null
}
