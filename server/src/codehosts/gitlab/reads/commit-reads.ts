import { Type } from 'typebox'
import type { HostReader } from '../../code-host.ts'
import type { HostRepository } from '../../host-repository.ts'
import type { HostCommit } from '../../host-run.ts'
import { Id, Maybe, readAs, Text, textOrNull } from '../../kit/payload.ts'
import { restPath } from '../../kit/rest-client.ts'
import type { GitlabApi } from '../client/gitlab-api.ts'
import { projectPath } from '../client/session.ts'
import { landedCommit } from '../objects/landed-commit.ts'
import { mergeRequestName } from '../objects/pipeline.parser.ts'

type CommitName = { sha: string; workflow_path: string | null }

export function readCommits(api: GitlabApi): HostReader['readCommits'] {
  return async (repository, commits) => {
    const read = await Promise.all(commits.map((commit) => readCommit(api, repository, commit)))
    return read.filter((commit) => commit !== null)
  }
}

const Commit = Type.Object({ message: Maybe(Text) })

/** GitLab does not say which account the address of an author belongs to. */
async function readCommit(
  api: GitlabApi,
  repository: HostRepository,
  { sha, workflow_path: path }: CommitName,
): Promise<HostCommit | null> {
  const found = await api.read(commitPath(repository, sha))
  if (found === null) return null
  const merged = await readMergeRequestOf(api, repository, sha)
  const blob = path === null ? null : await readFileVersion(api, repository, { sha, path })
  return {
    sha,
    message: textOrNull(readAs(Commit, found).message),
    author: null,
    merged_pull_request: merged === null ? null : mergeRequestName(repository, merged),
    workflow_blob: blob,
  }
}

const Merged = Type.Object({
  iid: Id,
  state: Maybe(Text),
  sha: Maybe(Text),
  merge_commit_sha: Maybe(Text),
  squash_commit_sha: Maybe(Text),
})

/**
 * The number of the merge request whose merge made this commit the newest of its branch. GitLab
 * lists every merge request that contains the commit.
 */
export async function readMergeRequestOf(
  api: GitlabApi,
  repository: HostRepository,
  sha: string,
): Promise<number | null> {
  const list = `${commitPath(repository, sha)}/merge_requests`
  const requests = await api.readAll(list, {}, (value) => readAs(Merged, value))
  return requests.find((request) => request.state === 'merged' && landedCommit(request) === sha)?.iid ?? null
}

const File = Type.Object({ blob_id: Maybe(Text) })

async function readFileVersion(
  api: GitlabApi,
  repository: HostRepository,
  { sha, path }: { sha: string; path: string },
): Promise<string | null> {
  const found = await api.read(`${projectPath(repository)}${restPath`/repository/files/${path}`}`, { ref: sha })
  return found && textOrNull(readAs(File, found).blob_id)
}

export function commitPath(repository: Pick<HostRepository, 'id'>, sha: string): string {
  return `${projectPath(repository)}${restPath`/repository/commits/${sha}`}`
}
