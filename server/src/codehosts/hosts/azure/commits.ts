import type { HostReader } from '../../code-host.ts'
import type { HostRepository } from '../../host-repository.ts'
import { restPath } from '../../kit/rest-client.ts'
import { type AzureApi, valuesOf } from './client.ts'
import { pullRequestName } from './runs.ts'
import { type Commit, changeCommitOf, parseCommit } from './objects/commit.parser.ts'
import { findMerges } from './reads/push-reads.ts'

type CommitReads = Pick<HostReader, 'readCommits' | 'compareCommits'>

const COMPARED_MAX = 10_000
const PAGE_COMMITS = 500

export function commitReads(api: AzureApi): CommitReads {
  return {
    async readCommits(repository, asked) {
      const project = await api.projectOf(repository)
      const shas = [...new Set(asked.map(({ sha }) => sha))]
      if (project === null || shas.length === 0) return []
      const commits = await readBatch(api, project, repository, shas)
      const merges = await findMerges(api, project, repository, shas)
      return commits.map(({ commitId, comment }) => {
        const merged = merges.get(commitId)
        return {
          sha: commitId,
          message: comment || null,
          // Azure DevOps does not match the authors of commits with accounts.
          author: null,
          merged_pull_request: merged === undefined ? null : pullRequestName(repository, merged),
          workflow_blob: null,
        }
      })
    },

    /** The newest commit comes first. */
    async compareCommits(repository, base, head) {
      if (base === head) return { commits: [], complete: true }
      const project = await api.projectOf(repository)
      const found = project && (await readRange(api, project, repository, { base, head }))
      if (!found) return null
      // The range of a comparison begins at its head. Anything else would be another range.
      if (found.commits.length > 0 && found.commits[0]?.commitId !== head) return null
      return { commits: found.commits.map(changeCommitOf).reverse(), complete: found.complete }
    },
  }
}

async function readBatch(
  api: AzureApi,
  project: string,
  repository: HostRepository,
  ids: readonly string[],
): Promise<Commit[]> {
  const repositoryPath = restPath`/${project}/_apis/git/repositories/${repository.id}`
  const body = await api.read({ method: 'POST', path: `${repositoryPath}/commitsbatch`, body: { ids } })
  const commits = body === null ? [] : api.parseItems(valuesOf(body), parseCommit)
  return Promise.all(commits.map((commit) => whole(api, repositoryPath, commit)))
}

/** Lists cut long messages. */
async function whole(api: AzureApi, repositoryPath: string, commit: Commit): Promise<Commit> {
  if (!commit.commentTruncated) return commit
  const read = await api.read({ path: repositoryPath + restPath`/commits/${commit.commitId}` })
  return read === null ? commit : parseCommit(read)
}

/** The commits that `head` has and `base` has not, newest first. */
async function readRange(
  api: AzureApi,
  project: string,
  { id }: HostRepository,
  { base, head }: { base: string; head: string },
): Promise<{ commits: Commit[]; complete: boolean } | null> {
  const repositoryPath = restPath`/${project}/_apis/git/repositories/${id}`
  const criteria = {
    itemVersion: { versionType: 'commit', version: base },
    compareVersion: { versionType: 'commit', version: head },
  }
  const commits: Commit[] = []
  for (;;) {
    const query = { $top: PAGE_COMMITS, $skip: commits.length }
    const request = { method: 'POST', path: `${repositoryPath}/commitsbatch`, query, body: criteria } as const
    const body = await api.read(request)
    if (body === null) return null
    const values = valuesOf(body)
    const read = await Promise.all(values.map((value) => whole(api, repositoryPath, parseCommit(value))))
    commits.push(...read)
    const isLast = values.length < PAGE_COMMITS
    if (isLast || commits.length >= COMPARED_MAX) return { commits, complete: isLast }
  }
}
