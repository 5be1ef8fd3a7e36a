import { createHash } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { hostRoleTooLow, invalidCredentials } from '../../../errors/codehosts.ts'
import { collectConcurrently } from '../../../platform/concurrency.ts'
import { type HostInstallation, type HostReader, HostRefusal } from '../../code-host.ts'
import type { HostAccount, HostRepository } from '../../host-repository.ts'
import { readEnd } from '../../kit/fetch-log-end.ts'
import { Maybe, parseDate, parseText, readAs, Text, Timestamp } from '../../kit/payload.ts'
import { encodePath, type RestClient } from '../../kit/rest-client.ts'
import { acceptRefusal, CredentialsRefused } from '../../kit/rest-error.ts'
import { type BitbucketApi, formatUuid, isBitbucketUuid, parsePage, parseUuid } from './client.ts'

type RepositoryReads = Pick<
  HostReader,
  'listRepositories' | 'readRepository' | 'readAccount' | 'listFolder' | 'readFile'
>

/** Larger files of those that we read are no texts that a person wrote. */
const FILE_BYTES_MAX = 1024 * 1024
const FOLDER_FILES_MAX = 200
const FOLDER_PAGES_MAX = 5
const CONCURRENT_READS = 4

export function createRepositoryReads(api: BitbucketApi): RepositoryReads {
  const place = { host: api.addresses.host, workspace: api.workspace }
  return {
    listRepositories: (options) =>
      api.fetchPage({ path: encodePath`/repositories/${formatUuid(api.workspace)}` }, options, (value) =>
        parseRepository(value, place),
      ),

    async readRepository(id) {
      const found = await api.fetch(api.repositoryPath({ id }))
      return found && parseRepository(found, place)
    },

    /** Bitbucket finds accounts by id only, and names them wherever it mentions them. */
    readAccount: async () => null,

    /** Bitbucket does not say the versions of files, so each file is read. */
    async listFolder(repository, path, ref) {
      const list = { path: `${sourcePath(api, repository, ref, path)}/`, query: { pagelen: 100 } }
      const found = await api.fetchList(list, FOLDER_PAGES_MAX)
      // A folder that may not be read would look like an empty one.
      if (found === null) await acceptRefusal(api.rest.request(list), [404])
      const entries = api.parseItems(found?.values ?? [], (value) => readAs(Entry, value))
      const files = entries.flatMap((entry) => (entry.type === 'commit_file' ? entry.path : []))
      return collectConcurrently(files.slice(0, FOLDER_FILES_MAX), CONCURRENT_READS, async (file) => {
        const text = await fetchFile(api, repository, ref, file)
        if (text === null) throw new HostRefusal(404, `Bitbucket does not return the file ${file}`)
        return { path: file, blob: blobSha(text) }
      })
    },

    readFile: (repository, { path, commit_sha }) => fetchFile(api, repository, commit_sha, path),
  }
}

const Entry = Type.Object({ type: Text, path: Text })

function sourcePath(api: BitbucketApi, repository: HostRepository, ref: string, path: string): string {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.')
  return api.repositoryPath(repository, `/src/${[ref, ...segments].map(encodeURIComponent).join('/')}`)
}

async function fetchFile(
  api: BitbucketApi,
  repository: HostRepository,
  ref: string,
  path: string,
): Promise<string | null> {
  const response = await api.rest.open({ path: sourcePath(api, repository, ref, path), headers: { accept: '*/*' } })
  if (response === null || !response.ok) return null
  const text = response.body === null ? '' : await readEnd(response.body, FILE_BYTES_MAX)
  return parseText(text) ?? ''
}

/** The id that Git gives to a file with this content. */
function blobSha(text: string): string {
  const content = Buffer.from(text)
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex')
}

const Workspace = Type.Object({ uuid: Text, slug: Maybe(Text), name: Maybe(Text), updated_on: Maybe(Timestamp) })
const InWorkspace = Type.Object({ uuid: Text, workspace: Workspace })

/** Among so many repositories of a workspace, one that the credentials administer is looked for. */
const REPOSITORIES_ASKED = 10

/**
 * The workspace with this UUID or slug. Tokens of a repository may not read the workspace itself,
 * but its repositories name it. Anybody may read a public one, and an account is connected once:
 * only who may see the webhooks of the workspace or of a repository, as administrators do, connects
 * it. Throws 400 `invalid_credentials` and 403 `host_role_too_low`.
 */
export async function fetchInstallation(rest: RestClient, idOrSlug: string): Promise<HostInstallation | null> {
  const name = isBitbucketUuid(idOrSlug) ? formatUuid(parseUuid(idOrSlug)) : idOrSlug
  try {
    const workspace = await rest.read({ path: encodePath`/workspaces/${name}` })
    const hooks = await rest.read({ path: encodePath`/workspaces/${name}/hooks` })
    if (workspace !== null && hooks !== null) return parseWorkspace(workspace)
    const query = { pagelen: REPOSITORIES_ASKED }
    const page = await rest.read({ path: encodePath`/repositories/${name}`, query })
    const listed = page === null ? [] : parsePage(page, { ...query, cursor: {} }).values
    const repositories = listed.map((value) => readAs(InWorkspace, value))
    for (const { uuid, workspace: its } of repositories)
      if (await rest.read({ path: encodePath`/repositories/${name}/${uuid}/hooks` })) return parseWorkspace(its)
    if (workspace === null && repositories.length === 0) return null
    throw hostRoleTooLow(`The credentials do not see the webhooks of the workspace ${name} or of a repository in it.`)
  } catch (error) {
    if (!(error instanceof CredentialsRefused)) throw error
    throw invalidCredentials(error.message).causedBy(error)
  }
}

function parseWorkspace(value: unknown): HostInstallation {
  const { uuid, slug, name, updated_on } = readAs(Workspace, value)
  const id = parseUuid(uuid)
  const login = parseText(slug) ?? parseText(name) ?? id
  const account = { id, login, type: 'workspace' }
  return { id, account, repositories: 'all', suspended: false, updated_at: parseDate(updated_on) }
}

const Link = Maybe(Type.Object({ href: Maybe(Text) }))
export const Links = Maybe(Type.Object({ html: Link, avatar: Link, self: Link }))

/** A person, a workspace, an app or an access token. */
export const Account = Type.Object({
  uuid: Maybe(Text),
  type: Maybe(Text),
  nickname: Maybe(Text),
  username: Maybe(Text),
  display_name: Maybe(Text),
  links: Links,
})

/**
 * Null for deleted accounts. Nicknames are not unique, so the id alone tells accounts apart. Access
 * tokens and apps act as accounts of the type `app_user`.
 */
export function parseAccount(account: Static<typeof Account> | null | undefined): HostAccount | null {
  if (!account?.uuid) return null
  const name = parseText(account.display_name)
  return {
    id: parseUuid(account.uuid),
    login: parseText(account.nickname) ?? parseText(account.username) ?? name ?? parseUuid(account.uuid),
    name,
    avatar_url: parseText(account.links?.avatar?.href),
    url: parseText(account.links?.html?.href),
    is_bot: account.type === 'app_user',
  }
}

const Repository = Type.Object({
  uuid: Text,
  full_name: Type.String({ pattern: '^[^/]+/[^/]+$' }),
  workspace: Maybe(Type.Object({ uuid: Text, slug: Maybe(Text), name: Maybe(Text) })),
  mainbranch: Maybe(Type.Object({ name: Maybe(Text) })),
  is_private: Maybe(Type.Boolean()),
  links: Links,
  updated_on: Maybe(Timestamp),
})

/** Bitbucket's own default for repositories without a first commit. */
const DEFAULT_BRANCH = 'main'

/** Null for a repository of another workspace than the connected one. */
function parseRepository(
  value: unknown,
  { host, workspace }: { host: string; workspace: string },
): HostRepository | null {
  const repository = readAs(Repository, value)
  const owner = repository.workspace
  if (owner && parseUuid(owner.uuid) !== workspace) return null
  return {
    provider: 'bitbucket',
    host,
    id: parseUuid(repository.uuid),
    full_name: repository.full_name,
    owner_id: workspace,
    default_branch: parseText(repository.mainbranch?.name) ?? DEFAULT_BRANCH,
    html_url: parseText(repository.links?.html?.href),
    // A repository that is not known to be public is treated as private.
    private: repository.is_private ?? true,
    archived: false,
    updated_at: parseDate(repository.updated_on),
  }
}
