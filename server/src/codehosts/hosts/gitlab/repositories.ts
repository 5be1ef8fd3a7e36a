import { Type } from 'typebox'
import { type HostReader, HostRefusal } from '../../code-host.ts'
import type { HostRepository } from '../../host-repository.ts'
import { Id, Maybe, parseDate, parseText, readAs, Text, Timestamp } from '../../kit/payload.ts'
import { encodePath } from '../../kit/rest-client.ts'
import { type ConnectedAccount, formatProjectPath, parseAccount, type Session } from './client.ts'

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
      return api.readPage({ path, query, options }, (project) => parseProject(project, account, session.host))
    },

    async readRepository(id) {
      const project = await api.read(encodePath`/projects/${id}`)
      return project && parseProject(project, await session.account(), session.host)
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

export const Project = Type.Object({
  id: Id,
  path_with_namespace: Type.String({ pattern: '^[^/]+/.+' }),
  default_branch: Maybe(Text),
  web_url: Maybe(Text),
  visibility: Maybe(Text),
  archived: Maybe(Type.Boolean()),
  updated_at: Maybe(Timestamp),
})

/** GitLab's own default for projects without a first commit. */
const DEFAULT_BRANCH = 'main'

/** Null if the project is outside the connected account. */
function parseProject(value: unknown, account: ConnectedAccount, host: string): HostRepository | null {
  const project = readAs(Project, value)
  const path = project.path_with_namespace
  if (!path.toLowerCase().startsWith(`${account.login.toLowerCase()}/`)) return null
  return {
    provider: 'gitlab',
    host,
    id: String(project.id),
    full_name: path,
    owner_id: account.id,
    default_branch: parseText(project.default_branch) ?? DEFAULT_BRANCH,
    html_url: parseText(project.web_url),
    // `internal` projects are open to everyone who is signed in, so not public.
    private: project.visibility !== 'public',
    archived: project.archived ?? false,
    updated_at: parseDate(project.updated_at),
  }
}
