import { Type } from 'typebox'
import type { HostReader } from '../../code-host.ts'
import type { HostRepository } from '../../host-repository.ts'
import { Id, Maybe, readAs, Text, textOrNull } from '../../kit/payload.ts'
import type { GithubApi } from '../client/github-api.ts'
import { contentsRoute, readFile } from './repository-reads.ts'

/** GitHub uses the first file that exists. */
const PATHS = ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS']
/** GitHub does not use a larger file, nor one of the later paths in its place. */
const BYTES_MAX = 3 * 1024 * 1024

export function readCodeOwners(api: GithubApi): HostReader['readCodeOwners'] {
  return async (repository, commitSha) => {
    for (const path of PATHS) {
      const found = await api.read(contentsRoute(path), { repository, ref: commitSha })
      const file = found && api.parseItem(found, parseFile)
      if (file === null) continue
      const text = await readText(api, repository, { ...file, path, commit_sha: commitSha })
      return text === null || Buffer.byteLength(text) > BYTES_MAX ? null : { path, text }
    }
    return null
  }
}

const File = Type.Object({
  type: Maybe(Text),
  size: Maybe(Id),
  sha: Maybe(Text),
  content: Maybe(Text),
  encoding: Maybe(Text),
})

type FoundFile = { size: number | null; blob: string | null; text: string | null }

/** Null for a folder, and for a link to another repository. */
function parseFile(value: unknown): FoundFile | null {
  if (Array.isArray(value)) return null
  const { type, size, sha, content, encoding } = readAs(File, value)
  if (type !== undefined && type !== null && type !== 'file') return null
  const text = encoding === 'base64' ? Buffer.from(content ?? '', 'base64').toString() : null
  return { size: size ?? null, blob: sha ?? null, text: text && (textOrNull(text) ?? '') }
}

/** GitHub includes the text of files up to 1 MB. */
async function readText(
  api: GithubApi,
  repository: HostRepository,
  { size, blob, text, path, commit_sha }: FoundFile & { path: string; commit_sha: string },
): Promise<string | null> {
  if (size !== null && size > BYTES_MAX) return null
  if (text !== null || blob === null) return text
  return readFile(api, repository, { path, commit_sha, blob })
}
