import type { HostReader } from '../../code-host.ts'
import type { HostChangeCommit, HostCommitList } from '../../host-change.ts'
import type { HostRepository } from '../../host-repository.ts'
import { restPath } from '../../kit/rest-client.ts'
import type { GitlabApi } from '../client/gitlab-api.ts'
import { projectPath } from '../client/session.ts'
import { parseChangeCommit, parseSignature } from '../objects/commit.parser.ts'
import { commitPath } from './commit-reads.ts'

/** Up to 10,000 commits. */
const PAGES_MAX = 100
const PAGE_ITEMS = 100
/** Each signature is a request of its own. Beyond this number they are unknown. */
const SIGNATURES_MAX = 300

export function listPullRequestCommits(api: GitlabApi): HostReader['listPullRequestCommits'] {
  return (repository, number) =>
    listCommits(api, repository, { path: restPath`/merge_requests/${number}/commits`, query: {} })
}

/** GitLab takes a range for the name of a branch. */
export function compareCommits(api: GitlabApi): HostReader['compareCommits'] {
  return (repository, base, head) =>
    listCommits(api, repository, { path: '/repository/commits', query: { ref_name: `${base}..${head}` } })
}

/** GitLab lists the newest first. */
async function listCommits(
  api: GitlabApi,
  repository: HostRepository,
  { path, query }: { path: string; query: Record<string, string> },
): Promise<HostCommitList | null> {
  const values = await api.readList(`${projectPath(repository)}${path}`, query, PAGES_MAX)
  if (values === null) return null
  const commits = api.parseItems(values, parseChangeCommit).reverse()
  const signed = await Promise.all(commits.map((commit, at) => withSignature(api, repository, commit, at)))
  return { commits: signed, complete: commits.length === values.length && values.length < PAGES_MAX * PAGE_ITEMS }
}

async function withSignature(
  api: GitlabApi,
  repository: HostRepository,
  commit: HostChangeCommit,
  at: number,
): Promise<HostChangeCommit> {
  if (at >= SIGNATURES_MAX) return commit
  const found = await api.read(`${commitPath(repository, commit.sha)}/signature`)
  return { ...commit, signature: parseSignature(found) }
}
