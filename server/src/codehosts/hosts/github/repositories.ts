import { type Static, Type } from 'typebox'
import type { HostFile, HostInstallation, HostReader } from '../../code-host.ts'
import type { HostAccount, HostRepository } from '../../host-repository.ts'
import { PageWalk } from '../../kit/page-walk.ts'
import {
  Id,
  Maybe,
  parseDate,
  parseText,
  parseTime,
  readAs,
  Text,
  TextOrSeconds,
  Timestamp,
} from '../../kit/payload.ts'
import { type GithubApi, parseValues } from './client.ts'

const INSTALLATION_REPOSITORIES = 'GET /installation/repositories'

type RepositoryReads = Pick<
  HostReader,
  'listRepositories' | 'readRepository' | 'readAccount' | 'listFolder' | 'readFile'
>

export function createRepositoryReads(api: GithubApi): RepositoryReads {
  return {
    listRepositories: (options) => api.readPage(INSTALLATION_REPOSITORIES, {}, options, parseRepository),

    readRepository: (id) => fetchRepository(api, id),

    readAccount: (login) => fetchAccount(api, login),

    async listFolder(repository, path, ref) {
      const contents = await api.find(formatContentsRoute(path), { repository, ref })
      // A file is an object, a folder an array.
      return Array.isArray(contents) ? api.parseItems(parseValues(contents), parseEntry) : []
    },

    readFile: (repository, file) => fetchFile(api, repository, file),
  }
}

export async function fetchAccount(api: GithubApi, login: string): Promise<HostAccount | null> {
  const account = await api.read('GET /users/{username}', { username: login })
  return account && parseAccount(account)
}

/**
 * GitHub reads a repository by its id, but does not describe this address in its reference. Where
 * it does not answer, the repositories of the installation are searched.
 */
async function fetchRepository(api: GithubApi, id: string): Promise<HostRepository | null> {
  const found = await api.read('GET /repositories/{id}', { id })
  if (found !== null) return parseRepository(found)
  const walk = new PageWalk('repositories')
  for (let next: string | null | undefined; next !== null; ) {
    const options = next ? { next } : {}
    const page = await walk.read(() => api.readPage(INSTALLATION_REPOSITORIES, {}, options, parseRepository))
    if (page === 'not_modified') return null
    const repository = page.items.find((item) => item.id === id)
    if (repository !== undefined) return repository
    next = page.next
  }
  return null
}

/** The segments of the path are encoded one by one: a whole path would hide its slashes. */
export function formatContentsRoute(path: string): string {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.')
  const encoded = segments.map((segment) => encodeURIComponent(segment).replaceAll(/[{}]/g, encodeURIComponent))
  return `GET /repos/{owner}/{repo}/contents/${encoded.join('/')}`
}

const Entry = Type.Object({ type: Text, path: Text, sha: Text })

function parseEntry(value: unknown): { path: string; blob: string } | null {
  const { type, path, sha } = readAs(Entry, value)
  return type === 'file' ? { path, blob: sha } : null
}

/** Blobs can be larger than the contents of a path, which GitHub includes up to 1 MB. */
export async function fetchFile(
  api: GithubApi,
  repository: HostRepository,
  { path, commit_sha: ref, blob }: HostFile,
): Promise<string | null> {
  const found =
    (await api.read('GET /repos/{owner}/{repo}/git/blobs/{file_sha}', { repository, file_sha: blob })) ??
    (await api.read(formatContentsRoute(path), { repository, ref }))
  return found === null || Array.isArray(found) ? null : parseFileText(found)
}

const Blob = Type.Object({ content: Text, encoding: Text, size: Maybe(Id) })

function parseFileText(value: unknown): string {
  const { content, encoding } = readAs(Blob, value)
  const text = encoding === 'base64' ? Buffer.from(content, 'base64').toString() : content
  return parseText(text) ?? ''
}

/** An installation of our App. `api` sends requests as the App. */
export async function fetchInstallation(api: GithubApi, id: string): Promise<HostInstallation | null> {
  const installation = await api.read('GET /app/installations/{installation_id}', { installation_id: id })
  return installation && toHostInstallation(readAs(Installation, installation))
}

export const Account = Type.Object({
  id: Id,
  login: Text,
  type: Maybe(Text),
  name: Maybe(Text),
  avatar_url: Maybe(Text),
  html_url: Maybe(Text),
})

/** Null for deleted accounts. */
export function toHostAccount(account: Static<typeof Account> | null | undefined): HostAccount | null {
  if (!account) return null
  return {
    id: String(account.id),
    login: account.login,
    name: parseText(account.name),
    avatar_url: parseText(account.avatar_url),
    url: parseText(account.html_url),
    is_bot: account.type === 'Bot' || account.login.endsWith('[bot]'),
  }
}

/** Only the logins of bots have brackets, so no person can have this one. */
export function isMergeQueue(login: string | null | undefined): boolean {
  return login === 'github-merge-queue[bot]'
}

export function parseAccount(value: unknown): HostAccount {
  return toHostAccount(readAs(Account, value)) as HostAccount
}

export const Repository = Type.Object({
  id: Id,
  full_name: Type.String({ pattern: '^[^/]+/[^/]+$' }),
  owner: Type.Object({ id: Id, login: Maybe(Text) }),
  default_branch: Maybe(Text),
  html_url: Type.String({ pattern: '^https?://[^/]' }),
  private: Maybe(Type.Boolean()),
  archived: Maybe(Type.Boolean()),
  updated_at: Maybe(Timestamp),
})

/** GitHub's own default for repositories without a first commit. */
const DEFAULT_BRANCH = 'main'

/**
 * The host is that of the repository's web address, which for an Enterprise Server with an address
 * of its own for the API is not that of the API.
 */
export function toHostRepository(repository: Static<typeof Repository>): HostRepository {
  return {
    provider: 'github',
    host: new URL(repository.html_url).host,
    id: String(repository.id),
    full_name: repository.full_name,
    owner_id: String(repository.owner.id),
    default_branch: parseText(repository.default_branch) ?? DEFAULT_BRANCH,
    html_url: repository.html_url,
    // A repository that is not known to be public is treated as private.
    private: repository.private ?? true,
    archived: repository.archived ?? false,
    updated_at: parseDate(repository.updated_at),
  }
}

export function parseRepository(value: unknown): HostRepository {
  return toHostRepository(readAs(Repository, value))
}

export const Installation = Type.Object({
  id: Id,
  account: Type.Object({ id: Id, login: Maybe(Text), slug: Maybe(Text), type: Maybe(Text) }),
  repository_selection: Maybe(Text),
  suspended_at: Maybe(TextOrSeconds),
  updated_at: Maybe(TextOrSeconds),
})

/** An enterprise has a slug in place of a login, and no type. */
export function toHostInstallation(installation: Static<typeof Installation>): HostInstallation {
  const { account } = installation
  const id = String(account.id)
  return {
    id: String(installation.id),
    account: { id, login: account.login ?? account.slug ?? id, type: account.type ?? 'Enterprise' },
    repositories: installation.repository_selection === 'selected' ? 'selected' : 'all',
    suspended: Boolean(installation.suspended_at),
    updated_at: installation.updated_at ? parseTime(installation.updated_at) : null,
  }
}

/** An `Actor` is a person, a bot or an organization, and only these types have an id. */
export const ACCOUNT_FIELDS = `__typename login avatarUrl url
  ... on User { databaseId } ... on Bot { databaseId } ... on Organization { databaseId }`

export const GraphAccount = Type.Object({
  __typename: Maybe(Text),
  databaseId: Maybe(Id),
  login: Text,
  name: Maybe(Text),
  avatarUrl: Maybe(Text),
  url: Maybe(Text),
})

/** Null without an id: nothing else identifies an account. */
export function toHostAccountFromGraph(account: Static<typeof GraphAccount> | null | undefined): HostAccount | null {
  if (!account?.databaseId) return null
  const isBot = account.__typename === 'Bot'
  return {
    id: String(account.databaseId),
    // REST and webhooks add the suffix to the names of bots.
    login: isBot && !account.login.endsWith('[bot]') ? `${account.login}[bot]` : account.login,
    name: parseText(account.name),
    avatar_url: parseText(account.avatarUrl),
    url: parseText(account.url),
    is_bot: isBot,
  }
}
