import { type Static, Type } from 'typebox'
import type { HostReader } from '../../code-host.ts'
import type { HostRepository } from '../../host-repository.ts'
import type { HostCommit } from '../../host-run.ts'
import { Id, Maybe, readAs, Text, Timestamp, textOrNull } from '../../kit/payload.ts'
import type { GithubApi } from '../client/github-api.ts'
import { Account, accountOf } from '../objects/repository.parser.ts'
import { pullRequestName } from '../objects/run.parser.ts'
import { type CommitName, queryCommits } from './query-commits.ts'
import { contentsRoute } from './repository-reads.ts'

/** One commit takes three requests. Above this number, one query for many commits takes fewer. */
const SINGLE_READS_MAX = 2

export function readCommits(api: GithubApi): HostReader['readCommits'] {
  return async (repository, commits) => {
    const queried = commits.length > SINGLE_READS_MAX ? await queryCommits(api, repository, commits) : null
    if (queried !== null) return queried
    const read = await Promise.all(commits.map((commit) => readCommit(api, repository, commit)))
    return read.filter((commit) => commit !== null)
  }
}

export function readBranchHead(api: GithubApi): HostReader['readBranchHead'] {
  return async (repository, branch) => {
    const found = await api.read('GET /repos/{owner}/{repo}/commits/{ref}', { repository, ref: `heads/${branch}` })
    return found && textOrNull(readAs(Type.Object({ sha: Maybe(Text) }), found).sha)
  }
}

const Commit = Type.Object({
  commit: Type.Object({ message: Maybe(Text) }),
  author: Maybe(Type.Union([Account, Type.Object({}, { additionalProperties: false })])),
})

async function readCommit(
  api: GithubApi,
  repository: HostRepository,
  { sha, workflow_path: path }: CommitName,
): Promise<HostCommit | null> {
  const found = await api.read('GET /repos/{owner}/{repo}/commits/{ref}', { repository, ref: sha })
  const merged = await readMergedPullRequest(api, repository, sha)
  const blob = path === null ? null : await readFileVersion(api, repository, { sha, path })
  if (found === null && merged === null && blob === null) return null
  return { ...describeCommit(found), sha, merged_pull_request: merged, workflow_blob: blob }
}

function describeCommit(found: unknown): Pick<HostCommit, 'message' | 'author'> {
  if (found === null) return { message: null, author: null }
  const { commit, author } = readAs(Commit, found)
  return { message: textOrNull(commit.message), author: author && 'id' in author ? accountOf(author) : null }
}

const MergedPullRequest = Type.Object({ number: Id, merged_at: Maybe(Timestamp), merge_commit_sha: Maybe(Text) })

/** GitHub lists every pull request that contains the commit. Its merge created only one. */
async function readMergedPullRequest(
  api: GithubApi,
  repository: HostRepository,
  sha: string,
): Promise<HostCommit['merged_pull_request']> {
  const route = 'GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls'
  const pulls = await api.readAll(route, { repository, commit_sha: sha }, (pull) => readAs(MergedPullRequest, pull))
  const merged = pulls.find((pull) => isMergeOf(pull, sha))
  return merged ? pullRequestName(repository, merged.number) : null
}

function isMergeOf(pull: Static<typeof MergedPullRequest>, sha: string): boolean {
  return Boolean(pull.merged_at) && pull.merge_commit_sha === sha
}

async function readFileVersion(
  api: GithubApi,
  repository: HostRepository,
  { sha, path }: { sha: string; path: string },
): Promise<string | null> {
  const file = await api.read(contentsRoute(path), { repository, ref: sha })
  if (file === null || Array.isArray(file)) return null
  return textOrNull(readAs(Type.Object({ sha: Maybe(Text) }), file).sha)
}
