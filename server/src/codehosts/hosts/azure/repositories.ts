import { Type } from 'typebox'
import { invalidCredentials } from '../../../errors/codehosts.ts'
import type { ApiError } from '../../../platform/http/api-error.ts'
import { type HostInstallation, type HostReader, HostRefusal } from '../../code-host.ts'
import type { HostRepository } from '../../host-repository.ts'
import { Maybe, parseText, readAs, Text } from '../../kit/payload.ts'
import { encodePath } from '../../kit/rest-client.ts'
import { CredentialsRefused } from '../../kit/rest-error.ts'
import { type AzureApi, Guid, LISTED, parseTime, parseValues, Time } from './client.ts'
import { type BuildName, formatRunId, parseRunId } from './jobs.ts'
import { AZURE_REPOS, fetchBuild } from './runs.ts'

type RepositoryReads = Pick<
  HostReader,
  'listRepositories' | 'readRepository' | 'readFile' | 'listFolder' | 'readAccount'
>

export function createRepositoryReads(api: AzureApi, host: string): RepositoryReads {
  const organization = async (): Promise<OrganizationName> => ({
    host,
    id: api.options.organizationId,
    name: await api.organization(),
  })
  return {
    /** One answer has the repositories of all projects that the credentials may see. */
    async listRepositories() {
      const { body } = await api.request({ path: '/_apis/git/repositories' })
      const its = await organization()
      const items = api.parseItems(parseValues(body), (value) => parseRepository(value, its))
      return { items, next: null, etag: LISTED }
    },

    async readRepository(id) {
      const alias = parseAlias(id)
      const path = alias === null ? encodePath`/_apis/git/repositories/${id}` : await fetchAliasPath(api, alias)
      const repository = path === null ? null : await api.fetch({ path })
      return repository === null ? null : parseRepository(repository, await organization())
    },

    async readFile(repository, { path: filePath, commit_sha: version }) {
      const path = await api.fetchRepositoryPath(repository)
      const query = { path: `/${filePath}`, includeContent: true, $format: 'json', ...versionQuery(version) }
      const item = path && (await api.fetch({ path: `${path}/items`, query }))
      return item ? (parseText(readAs(Item, item).content) ?? '') : null
    },

    async listFolder(repository, folder, ref) {
      const path = await api.fetchRepositoryPath(repository)
      if (path === null) throw new HostRefusal(404, 'The repository cannot be read.')
      const query = { scopePath: `/${folder}`, recursionLevel: 'oneLevel', ...versionQuery(ref) }
      const items = await api.request({ path: `${path}/items`, query }).catch(asEmptyFolder)
      const values = items === null ? [] : parseValues(items.body)
      return api.parseItems(values, parseItem).filter((item) => item !== null)
    },

    /** People are found by their id only. */
    readAccount: async () => null,
  }
}

/** Null if a run builds a repository of another host. */
async function fetchAliasPath(api: AzureApi, alias: RepositoryAlias): Promise<string | null> {
  if ('name' in alias) return encodePath`/${alias.project}/_apis/git/repositories/${alias.name}`
  const repository = (await fetchBuild(api, alias.run))?.repository
  const id = repository?.type === AZURE_REPOS ? repository.id?.toLowerCase() : undefined
  return id === undefined ? null : encodePath`/_apis/git/repositories/${id}`
}

const Item = Type.Object({
  path: Maybe(Text),
  objectId: Maybe(Text),
  gitObjectType: Maybe(Text),
  isFolder: Maybe(Type.Boolean()),
  content: Maybe(Text),
})

/** Paths begin with a slash. Null for folders; the folder itself is part of its list. */
function parseItem(value: unknown): { path: string; blob: string } | null {
  const { path, objectId, gitObjectType, isFolder } = readAs(Item, value)
  if (!path || !objectId || isFolder || gitObjectType !== 'blob') return null
  return { path: path.replace(/^\//, ''), blob: objectId }
}

const COMMIT_SHA = /^[0-9a-f]{40}$/

function versionQuery(ref: string): Record<string, string> {
  return {
    'versionDescriptor.version': ref.replace(/^refs\/heads\//, ''),
    'versionDescriptor.versionType': COMMIT_SHA.test(ref) ? 'commit' : 'branch',
  }
}

/** The codes of errors for a path or a version that does not exist. */
const NO_ITEM = /TF401(?:174|175)/

function asEmptyFolder(error: unknown): null {
  if (error instanceof HostRefusal && NO_ITEM.test(error.message)) return null
  throw error
}

/**
 * Stands for a repository in the change that an event names, where the event does not have its id.
 * The host finds the repository by it.
 */
type RepositoryAlias = { run: BuildName } | { project: string; name: string }

const RUN_ALIAS = 'run:'
const NAME_ALIAS = /^name:([0-9a-f-]{36}):(.+)$/s

/** Events of pipelines name the run only. */
export function formatRunAlias(build: BuildName): string {
  return `${RUN_ALIAS}${formatRunId(build)}`
}

/** Events of alerts have the address of the repository. Null if it is not one of Azure Repos. */
export function formatUrlAlias(project: string, url: string): string | null {
  const name = /\/_git\/([^/?#]+)$/.exec(URL.canParse(url) ? new URL(url).pathname : '')?.[1]
  return name === undefined ? null : `name:${project.toLowerCase()}:${decodeURIComponent(name)}`
}

/** Null for the id of a repository. */
function parseAlias(id: string): RepositoryAlias | null {
  const run = id.startsWith(RUN_ALIAS) ? parseRunId(id.slice(RUN_ALIAS.length)) : null
  if (run !== null) return { run }
  const [, project, name] = NAME_ALIAS.exec(id) ?? []
  return project && name ? { project, name } : null
}

const ConnectionData = Type.Object({
  instanceId: Guid,
  authenticatedUser: Maybe(Type.Object({ id: Maybe(Text) })),
})

const GUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** Public projects can be read without signing in, as this user. */
const ANONYMOUS = 'aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa'

/** An organization by its id or name. Null if it does not exist. */
export async function fetchInstallation(api: AzureApi, idOrName: string): Promise<HostInstallation | null> {
  try {
    return await fetchOrganization(api, idOrName)
  } catch (error) {
    if (error instanceof CredentialsRefused) throw refusedCredentials(error.message)
    if (error instanceof HostRefusal && error.status === 404) return null
    if (error instanceof HostRefusal) throw refusedCredentials(error.message)
    throw error
  }
}

async function fetchOrganization(api: AzureApi, idOrName: string): Promise<HostInstallation | null> {
  const name = GUID.test(idOrName) ? await api.fetchName(idOrName) : idOrName
  if (name === null) return null
  const { body } = await api.request({ path: '/_apis/connectionData', preview: 1 }, name)
  const { instanceId, authenticatedUser } = readAs(ConnectionData, body)
  if (authenticatedUser?.id?.toLowerCase() === ANONYMOUS)
    throw refusedCredentials('The organization does not know them.')
  const id = instanceId.toLowerCase()
  // The name as the organization writes it.
  const login = (await api.fetchName(id)) ?? name
  return { id, account: { id, login, type: 'Organization' }, repositories: 'all', suspended: false }
}

function refusedCredentials(message: string): ApiError {
  return invalidCredentials(`Azure DevOps does not accept the credentials. ${message}`)
}

const Repository = Type.Object({
  id: Guid,
  name: Text,
  project: Type.Object({
    id: Guid,
    name: Text,
    state: Maybe(Text),
    visibility: Maybe(Text),
    lastUpdateTime: Maybe(Time),
  }),
  defaultBranch: Maybe(Text),
  isDisabled: Maybe(Type.Boolean()),
  webUrl: Maybe(Text),
})

/** The organization that the connection is for. */
type OrganizationName = { host: string; id: string; name: string }

/** The default of Azure Repos, for repositories without a first commit. */
const DEFAULT_BRANCH = 'main'

function parseRepository(value: unknown, organization: OrganizationName): HostRepository {
  const repository = readAs(Repository, value)
  const { project } = repository
  return {
    provider: 'azure',
    host: organization.host,
    id: repository.id.toLowerCase(),
    full_name: `${organization.name}/${project.name}/${repository.name}`,
    owner_id: organization.id,
    default_branch: parseBranch(repository.defaultBranch) ?? DEFAULT_BRANCH,
    html_url: parseText(repository.webUrl),
    // The rights of a repository are those of its project.
    private: project.visibility !== 'public',
    // Disabled repositories exist, but nobody can read their code.
    archived: repository.isDisabled === true || project.state === 'deleting',
    // Only the project has a time, but a rename of the project is what changes most names.
    updated_at: parseTime(project.lastUpdateTime),
  }
}

/** The name of a branch in `refs/heads/…`; null for other refs. */
export function parseBranch(ref: string | null | undefined): string | null {
  return /^refs\/heads\/(.+)$/s.exec(ref ?? '')?.[1] ?? null
}
