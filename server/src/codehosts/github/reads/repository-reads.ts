import { Type } from 'typebox'
import type { HostFile, HostReader } from '../../code-host.ts'
import type { HostAccount, HostRepository } from '../../host-repository.ts'
import { Id, Maybe, readAs, Text, textOrNull } from '../../kit/payload.ts'
import type { GithubApi } from '../client/github-api.ts'
import { itemsOf } from '../client/page.ts'
import { parseAccount, parseRepository } from '../objects/repository.parser.ts'

const INSTALLATION_REPOSITORIES = 'GET /installation/repositories'

type RepositoryReads = Pick<
  HostReader,
  'listRepositories' | 'readRepository' | 'readAccount' | 'listFolder' | 'readFile'
>

export function repositoryReads(api: GithubApi): RepositoryReads {
  return {
    listRepositories: (options) => api.readPage(INSTALLATION_REPOSITORIES, {}, options, parseRepository),

    readRepository: (id) => readRepository(api, id),

    readAccount: (login) => readAccount(api, login),

    async listFolder(repository, path, ref) {
      const contents = await api.find(contentsRoute(path), { repository, ref })
      // A file is an object, a folder an array.
      return Array.isArray(contents) ? api.parseItems(itemsOf(contents), parseEntry) : []
    },

    readFile: (repository, file) => readFile(api, repository, file),
  }
}

export async function readAccount(api: GithubApi, login: string): Promise<HostAccount | null> {
  const account = await api.read('GET /users/{username}', { username: login })
  return account && parseAccount(account)
}

/**
 * GitHub reads a repository by its id, but does not describe this address in its reference. Where
 * it does not answer, the repositories of the installation are searched.
 */
async function readRepository(api: GithubApi, id: string): Promise<HostRepository | null> {
  const found = await api.read('GET /repositories/{id}', { id })
  if (found !== null) return parseRepository(found)
  for (let next: string | null | undefined; next !== null; ) {
    const page = await api.readPage(INSTALLATION_REPOSITORIES, {}, next ? { next } : {}, parseRepository)
    if (page === 'not_modified') return null
    const repository = page.items.find((item) => item.id === id)
    if (repository !== undefined) return repository
    next = page.next
  }
  return null
}

/** The segments of the path are encoded one by one: a whole path would hide its slashes. */
export function contentsRoute(path: string): string {
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
export async function readFile(
  api: GithubApi,
  repository: HostRepository,
  { path, commit_sha: ref, blob }: HostFile,
): Promise<string | null> {
  const found =
    (await api.read('GET /repos/{owner}/{repo}/git/blobs/{file_sha}', { repository, file_sha: blob })) ??
    (await api.read(contentsRoute(path), { repository, ref }))
  return found === null || Array.isArray(found) ? null : textOfBlob(found)
}

const Blob = Type.Object({ content: Text, encoding: Text, size: Maybe(Id) })

function textOfBlob(value: unknown): string {
  const { content, encoding } = readAs(Blob, value)
  const text = encoding === 'base64' ? Buffer.from(content, 'base64').toString() : content
  return textOrNull(text) ?? ''
}
