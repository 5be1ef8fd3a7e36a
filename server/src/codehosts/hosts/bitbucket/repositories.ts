import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import { mapSideBySide } from '../../../platform/side-by-side.ts'
import { type HostReader, HostRefusal } from '../../code-host.ts'
import type { HostRepository } from '../../host-repository.ts'
import { readAs, Text, textOrNull } from '../../kit/payload.ts'
import { readEnd } from '../../kit/read-log-end.ts'
import { restPath } from '../../kit/rest-client.ts'
import { orNull } from '../../kit/rest-error.ts'
import type { BitbucketApi } from './client.ts'
import { bracedUuid } from './client/uuid.ts'
import { parseRepository } from './objects/repository.parser.ts'

type RepositoryReads = Pick<
  HostReader,
  'listRepositories' | 'readRepository' | 'readAccount' | 'listFolder' | 'readFile'
>

/** Larger files of those that we read are no texts that a person wrote. */
const FILE_BYTES_MAX = 1024 * 1024
const FOLDER_FILES_MAX = 200
const READS_AT_ONCE = 4

export function repositoryReads(api: BitbucketApi): RepositoryReads {
  const place = { host: api.addresses.host, workspace: api.workspace }
  return {
    listRepositories: (options) =>
      api.readPage({ path: restPath`/repositories/${bracedUuid(api.workspace)}` }, options, (value) =>
        parseRepository(value, place),
      ),

    async readRepository(id) {
      const found = await api.read(api.pathOf({ id }))
      return found && parseRepository(found, place)
    },

    /** Bitbucket finds accounts by id only, and names them wherever it mentions them. */
    readAccount: async () => null,

    /** Bitbucket does not say the versions of files, so each file is read. */
    async listFolder(repository, path, ref) {
      const list = { path: `${sourcePath(api, repository, ref, path)}/` }
      const page = await orNull(api.rest.request({ ...list, query: { pagelen: 100 } }), [404])
      if (page === null) return []
      const { values } = readAs(Folder, page.body)
      const paths = api.parseItems(values, fileOf).slice(0, FOLDER_FILES_MAX)
      const files = await mapSideBySide(paths, READS_AT_ONCE, async (file) => {
        const text = await readText(api, repository, ref, file)
        if (text === null) throw new HostRefusal(404, `Bitbucket does not return the file ${file}`)
        return { path: file, blob: blobSha(text) }
      })
      return files
    },

    readFile: (repository, { path, commit_sha }) => readText(api, repository, commit_sha, path),
  }
}

const Folder = Type.Object({ values: Type.Array(Type.Unknown()) })
const Entry = Type.Object({ type: Text, path: Text })

function fileOf(value: unknown): string | null {
  const { type, path } = readAs(Entry, value)
  return type === 'commit_file' ? path : null
}

function sourcePath(api: BitbucketApi, repository: HostRepository, ref: string, path: string): string {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.')
  return api.pathOf(repository, ['/src', ref, ...segments].map(encodeSegment).join('/'))
}

function encodeSegment(segment: string): string {
  return segment === '/src' ? segment : encodeURIComponent(segment)
}

async function readText(
  api: BitbucketApi,
  repository: HostRepository,
  ref: string,
  path: string,
): Promise<string | null> {
  const response = await api.rest.open({ path: sourcePath(api, repository, ref, path), headers: { accept: '*/*' } })
  if (response === null || !response.ok) return null
  const text = response.body === null ? '' : await readEnd(response.body, FILE_BYTES_MAX)
  return textOrNull(text) ?? ''
}

/** The id that Git gives to a file with this content. */
function blobSha(text: string): string {
  const content = Buffer.from(text)
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex')
}
