import { type Static, Type } from 'typebox'
import { mapSideBySide } from '../../../platform/side-by-side.ts'
import type { HostReader } from '../../code-host.ts'
import type { HostRepository } from '../../host-repository.ts'
import type { HostCommit } from '../../host-run.ts'
import { Maybe, readAs, Text, textOrNull } from '../../kit/payload.ts'
import { restPath } from '../../kit/rest-client.ts'
import type { BitbucketApi } from './client.ts'
import { Commit } from './objects/commit.parser.ts'
import { pullRequestName } from './runs.ts'
import { PullRequest } from './objects/pull-request.parser.ts'
import { accountOf } from './objects/repository.parser.ts'

type CommitReads = Pick<HostReader, 'readCommits' | 'readBranchHead' | 'listPullRequestCommits' | 'compareCommits'>

const READS_AT_ONCE = 4

export function commitReads(api: BitbucketApi): Pick<CommitReads, 'readCommits' | 'readBranchHead'> {
  return {
    async readCommits(repository, commits) {
      const read = await mapSideBySide(commits, READS_AT_ONCE, ({ sha }) => readCommit(api, repository, sha))
      return read.filter((commit) => commit !== null)
    },

    async readBranchHead(repository, branch) {
      const segments = branch.split('/').map((segment) => encodeURIComponent(segment))
      const found = await api.read(api.pathOf(repository, `/refs/branches/${segments.join('/')}`))
      return found && textOrNull(readAs(Branch, found).target?.hash)
    },
  }
}

const Branch = Type.Object({ target: Maybe(Type.Object({ hash: Maybe(Text) })) })

/** Steps of Pipelines run in the order of the file, so no workflow file is read for their needs. */
async function readCommit(api: BitbucketApi, repository: HostRepository, sha: string): Promise<HostCommit | null> {
  const found = await api.read(api.pathOf(repository, restPath`/commit/${sha}`))
  if (found === null) return null
  const commit = readAs(Commit, found)
  return {
    sha,
    message: textOrNull(commit.message),
    author: accountOf(commit.author?.user),
    merged_pull_request: await readMergedPullRequest(api, repository, commit),
    workflow_blob: null,
  }
}

/** Bitbucket's own messages of merges: `Merged in topic (pull request #7)`. */
const MERGE_MESSAGE = /\(pull request #([1-9]\d{0,9})\)/

/**
 * The pull request whose merge created the commit. Its message only says which one is asked; where
 * the message is another one, Bitbucket's index of commits is asked, which it does not always have.
 */
async function readMergedPullRequest(
  api: BitbucketApi,
  repository: HostRepository,
  { hash, message }: Static<typeof Commit>,
): Promise<HostCommit['merged_pull_request']> {
  const number = MERGE_MESSAGE.exec(message ?? '')?.[1]
  const named = number === undefined ? null : await api.read(api.pathOf(repository, `/pullrequests/${number}`))
  const pulls = named === null ? await listPullRequestsOf(api, repository, hash) : [named]
  const merged = api.parseItems(pulls, (pull) => readAs(Merged, pull)).find((pull) => isMergeOf(pull, hash))
  return merged ? pullRequestName(repository, merged.id) : null
}

async function listPullRequestsOf(api: BitbucketApi, repository: HostRepository, sha: string): Promise<unknown[]> {
  const page = await api.requestPage({ path: api.pathOf(repository, restPath`/commit/${sha}/pullrequests`) }, null)
  return page?.values ?? []
}

const Merged = Type.Object({
  id: PullRequest.properties.id,
  state: PullRequest.properties.state,
  merge_commit: PullRequest.properties.merge_commit,
})

/** The hash of the merge is abbreviated. */
function isMergeOf({ state, merge_commit }: Static<typeof Merged>, sha: string): boolean {
  return state === 'MERGED' && Boolean(merge_commit?.hash) && sha.startsWith(merge_commit?.hash as string)
}
