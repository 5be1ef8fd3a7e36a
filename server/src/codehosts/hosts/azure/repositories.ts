import { Type } from 'typebox'
import { type HostReader, HostRefusal } from '../../code-host.ts'
import { Maybe, readAs, Text, textOrNull } from '../../kit/payload.ts'
import { restPath } from '../../kit/rest-client.ts'
import { type AzureApi, valuesOf } from './client.ts'
import { parseAlias, type RepositoryAlias } from './events/repository-alias.ts'
import { AZURE_REPOS } from './runs.ts'
import { type OrganizationName, parseRepository } from './objects/repository.parser.ts'
import { LISTED, readBuild } from './reads/run-reads.ts'

type RepositoryReads = Pick<
  HostReader,
  'listRepositories' | 'readRepository' | 'readBranchHead' | 'readFile' | 'listFolder' | 'readAccount'
>

export function repositoryReads(api: AzureApi, host: string): RepositoryReads {
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
      const items = api.parseItems(valuesOf(body), (value) => parseRepository(value, its))
      return { items, next: null, etag: LISTED }
    },

    async readRepository(named) {
      const alias = parseAlias(named)
      const path = alias === null ? restPath`/_apis/git/repositories/${named}` : await pathOfAlias(api, alias)
      const repository = path === null ? null : await api.read({ path })
      return repository === null ? null : parseRepository(repository, await organization())
    },

    async readBranchHead(repository, branch) {
      const path = await pathOf(api, repository.id)
      const filter = `heads/${branch}`
      const refs = path === null ? [] : await api.readAll({ path: `${path}/refs`, query: { filter } }, parseRef)
      // The filter is a prefix.
      return refs.find(({ name }) => name === `refs/${filter}`)?.objectId ?? null
    },

    async readFile(repository, { path: filePath, commit_sha: version }) {
      const path = await pathOf(api, repository.id)
      const query = { path: `/${filePath}`, includeContent: true, $format: 'json', ...versionOf(version) }
      const item = path && (await api.read({ path: `${path}/items`, query }))
      return item ? (textOrNull(readAs(Item, item).content) ?? '') : null
    },

    async listFolder(repository, folder, ref) {
      const path = await pathOf(api, repository.id)
      if (path === null) throw new HostRefusal(404, 'The repository cannot be read.')
      const query = { scopePath: `/${folder}`, recursionLevel: 'oneLevel', ...versionOf(ref) }
      const items = await api.request({ path: `${path}/items`, query }).catch(asEmptyFolder)
      const values = items === null ? [] : valuesOf(items.body)
      return api.parseItems(values, parseItem).filter((item) => item !== null)
    },

    /** People are found by their id only. */
    readAccount: async () => null,
  }
}

async function pathOf(api: AzureApi, id: string): Promise<string | null> {
  const project = await api.projectOf({ id })
  return project && restPath`/${project}/_apis/git/repositories/${id}`
}

/** Null if a run builds a repository of another host. */
async function pathOfAlias(api: AzureApi, alias: RepositoryAlias): Promise<string | null> {
  if ('name' in alias) return restPath`/${alias.project}/_apis/git/repositories/${alias.name}`
  const repository = (await readBuild(api, alias.run))?.repository
  const id = repository?.type === AZURE_REPOS ? repository.id?.toLowerCase() : undefined
  return id === undefined ? null : restPath`/_apis/git/repositories/${id}`
}

const Ref = Type.Object({ name: Text, objectId: Text })

function parseRef(value: unknown) {
  return readAs(Ref, value)
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

const COMMIT = /^[0-9a-f]{40}$/

function versionOf(ref: string): Record<string, string> {
  return {
    'versionDescriptor.version': ref.replace(/^refs\/heads\//, ''),
    'versionDescriptor.versionType': COMMIT.test(ref) ? 'commit' : 'branch',
  }
}

/** The codes of errors for a path or a version that does not exist. */
const NO_ITEM = /TF401(?:174|175)/

function asEmptyFolder(error: unknown): null {
  if (error instanceof HostRefusal && NO_ITEM.test(error.message)) return null
  throw error
}
