import { type Static, Type } from 'typebox'
import { type HostReader, HostRefusal } from '../../code-host.ts'
import type { HostRepository } from '../../host-repository.ts'
import { Id, Maybe, parseDate, parseText, readAs, Text, Timestamp } from '../../kit/payload.ts'
import { encodePath } from '../../kit/rest-client.ts'
import { formatProjectPath, parseAccount, type Session } from './client.ts'

type RepositoryReads = Pick<
  HostReader,
  'listRepositories' | 'readRepository' | 'readAccount' | 'listFolder' | 'readFile'
>

export function createRepositoryReads(session: Session): RepositoryReads {
  const { api } = session
  return {
    /** The projects of the group and of its subgroups, without those that others share with it. */
    async listRepositories(options) {
      const account = await session.account()
      const isGroup = account.type === 'group'
      const path = isGroup ? encodePath`/groups/${account.id}/projects` : encodePath`/users/${account.login}/projects`
      const own = isGroup ? { include_subgroups: true, with_shared: false } : {}
      const query = { ...own, order_by: 'id', sort: 'desc' }
      const page = await api.readPage({ path, query, options }, parseProject)
      if (page === 'not_modified') return page
      return { ...page, items: await filterConnected(session, page.items) }
    },

    async readRepository(id) {
      const project = await api.read(encodePath`/projects/${id}`)
      const [repository] = project === null ? [] : await filterConnected(session, [parseProject(project)])
      return repository ?? null
    },

    async readAccount(login) {
      const users = await api.readAll('/users', { username: login }, parseAccount)
      return users[0] ?? null
    },

    listFolder: listFolder(session),

    async readFile(repository, { blob }) {
      const found = await api.read(`${formatProjectPath(repository)}${encodePath`/repository/blobs/${blob}`}`)
      return found && parseFileText(found)
    },
  }
}

const Entry = Type.Object({ type: Text, path: Text, id: Text })

const FileContent = Type.Object({ content: Text, encoding: Maybe(Text) })

export function parseFileText(value: unknown): string {
  const { content, encoding } = readAs(FileContent, value)
  const text = encoding === 'text' ? content : Buffer.from(content, 'base64').toString()
  return parseText(text) ?? ''
}

/** GitLab answers 404 for a folder that does not exist, and for a project that may not be read. */
function listFolder({ api }: Session): HostReader['listFolder'] {
  return async (repository, path, ref) => {
    const code = `${formatProjectPath(repository)}/repository`
    const values = await api.readList(`${code}/tree`, { path, ref })
    if (values !== null) return api.parseItems(values, parseEntry)
    const branches = await api.readList(`${code}/branches`, {}, 1)
    if (branches === null) throw new HostRefusal(403, 'GitLab does not let the token read the repository.')
    return []
  }
}

function parseEntry(value: unknown): { path: string; blob: string } | null {
  const { type, path, id } = readAs(Entry, value)
  return type === 'blob' ? { path, blob: id } : null
}

const Project = Type.Object({
  id: Id,
  path_with_namespace: Type.String({ pattern: '^[^/]+/.+' }),
  namespace: Type.Object({ id: Id, parent_id: Maybe(Id) }),
  default_branch: Maybe(Text),
  web_url: Maybe(Text),
  visibility: Maybe(Text),
  archived: Maybe(Type.Boolean()),
  updated_at: Maybe(Timestamp),
})
type Project = Static<typeof Project>

function parseProject(value: unknown): Project {
  return readAs(Project, value)
}

/** Those of the projects that are in the connected account. */
async function filterConnected(session: Session, projects: readonly Project[]): Promise<HostRepository[]> {
  if (projects.length === 0) return []
  const { id } = await session.account()
  const found = await Promise.all(
    projects.map(
      async (project) => (await session.isConnected(project.namespace)) && toRepository(project, id, session.host),
    ),
  )
  return found.filter((repository) => repository !== false)
}

/** GitLab's own default for projects without a first commit. */
const DEFAULT_BRANCH = 'main'

function toRepository(project: Project, accountId: string, host: string): HostRepository {
  return {
    provider: 'gitlab',
    host,
    id: String(project.id),
    full_name: project.path_with_namespace,
    owner_id: accountId,
    default_branch: parseText(project.default_branch) ?? DEFAULT_BRANCH,
    html_url: parseText(project.web_url),
    // `internal` projects are open to everyone who is signed in, so not public.
    private: project.visibility !== 'public',
    archived: project.archived ?? false,
    updated_at: parseDate(project.updated_at),
  }
}
