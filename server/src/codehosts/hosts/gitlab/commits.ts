import { Type } from 'typebox'
import type { HostReader } from '../../code-host.ts'
import type { HostChangeCommit, HostCommitList } from '../../host-change.ts'
import type { HostRepository } from '../../host-repository.ts'
import type { HostCheck, HostCommit } from '../../host-run.ts'
import { Id, Maybe, parseDate, parseText, readAs, Text, Timestamp } from '../../kit/payload.ts'
import { encodePath } from '../../kit/rest-client.ts'
import { formatProjectPath, type GitlabApi, type Session } from './client.ts'
import { isOpen, parseStatus } from './jobs.ts'
import { toPullRequestName } from './runs.ts'

type CommitReads = Pick<
  HostReader,
  'readCommits' | 'readBranchHead' | 'listPullRequestCommits' | 'compareCommits' | 'listChecks'
>

export function createCommitReads({ api }: Session): CommitReads {
  return {
    readCommits: readCommits(api),

    async readBranchHead(repository, branch) {
      const found = await api.read(`${formatProjectPath(repository)}${encodePath`/repository/branches/${branch}`}`)
      return found && parseText(readAs(Branch, found).commit?.id)
    },

    listPullRequestCommits: listPullRequestCommits(api),
    compareCommits: compareCommits(api),

    /** The newest job or status under each name. */
    listChecks: (repository, commitSha) =>
      api.readAll(`${commitPath(repository, commitSha)}/statuses`, {}, (status) =>
        parseCommitStatus(status, repository, commitSha),
      ),
  }
}

const Branch = Type.Object({ commit: Maybe(Type.Object({ id: Maybe(Text) })) })

type CommitName = { sha: string; workflow_path: string | null }

function readCommits(api: GitlabApi): HostReader['readCommits'] {
  return async (repository, commits) => {
    const read = await Promise.all(commits.map((commit) => fetchCommit(api, repository, commit)))
    return read.filter((commit) => commit !== null)
  }
}

const SingleCommit = Type.Object({ message: Maybe(Text) })

/** GitLab does not say which account the address of an author belongs to. */
async function fetchCommit(
  api: GitlabApi,
  repository: HostRepository,
  { sha, workflow_path: path }: CommitName,
): Promise<HostCommit | null> {
  const found = await api.read(commitPath(repository, sha))
  if (found === null) return null
  const merged = await fetchMergeRequest(api, repository, sha)
  const blob = path === null ? null : await fetchFileVersion(api, repository, { sha, path })
  return {
    sha,
    message: parseText(readAs(SingleCommit, found).message),
    author: null,
    merged_pull_request: merged === null ? null : toPullRequestName(repository, merged),
    workflow_blob: blob,
  }
}

const MergedRequest = Type.Object({
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
export async function fetchMergeRequest(
  api: GitlabApi,
  repository: HostRepository,
  sha: string,
): Promise<number | null> {
  const list = `${commitPath(repository, sha)}/merge_requests`
  const requests = await api.readAll(list, {}, (value) => readAs(MergedRequest, value))
  return requests.find((request) => request.state === 'merged' && selectLandedCommit(request) === sha)?.iid ?? null
}

const File = Type.Object({ blob_id: Maybe(Text) })

async function fetchFileVersion(
  api: GitlabApi,
  repository: HostRepository,
  { sha, path }: { sha: string; path: string },
): Promise<string | null> {
  const found = await api.read(`${formatProjectPath(repository)}${encodePath`/repository/files/${path}`}`, { ref: sha })
  return found && parseText(readAs(File, found).blob_id)
}

function commitPath(repository: Pick<HostRepository, 'id'>, sha: string): string {
  return `${formatProjectPath(repository)}${encodePath`/repository/commits/${sha}`}`
}

/** Up to 10,000 commits. */
const PAGES_MAX = 100
const PAGE_ITEMS = 100
/** Each signature is a request of its own. Beyond this number they are unknown. */
const SIGNATURES_MAX = 300

function listPullRequestCommits(api: GitlabApi): HostReader['listPullRequestCommits'] {
  return (repository, number) =>
    fetchCommits(api, repository, { path: encodePath`/merge_requests/${number}/commits`, query: {} })
}

/** GitLab takes a range for the name of a branch. */
function compareCommits(api: GitlabApi): HostReader['compareCommits'] {
  return (repository, base, head) =>
    fetchCommits(api, repository, { path: '/repository/commits', query: { ref_name: `${base}..${head}` } })
}

/** GitLab lists the newest first. */
async function fetchCommits(
  api: GitlabApi,
  repository: HostRepository,
  { path, query }: { path: string; query: Record<string, string> },
): Promise<HostCommitList | null> {
  const values = await api.readList(`${formatProjectPath(repository)}${path}`, query, PAGES_MAX)
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
  if (found === null) return { ...commit, signature: UNSIGNED }
  const status = parseText(readAs(Signature, found).verification_status) ?? 'unknown'
  return { ...commit, signature: { verified: VERIFIED.includes(status), reason: status } }
}

const Commit = Type.Object({
  id: Text,
  message: Maybe(Text),
  author_name: Maybe(Text),
  author_email: Maybe(Text),
  committer_name: Maybe(Text),
  committer_email: Maybe(Text),
})

/** GitLab does not say which accounts the addresses belong to. */
export function parseChangeCommit(value: unknown): HostChangeCommit {
  const commit = readAs(Commit, value)
  return {
    sha: commit.id,
    message: parseText(commit.message) ?? '',
    author: parsePerson(commit.author_name, commit.author_email),
    committer: parsePerson(commit.committer_name, commit.committer_email),
    signature: null,
  }
}

function parsePerson(name: string | null | undefined, email: string | null | undefined): HostChangeCommit['author'] {
  return { name: parseText(name) ?? '', email: parseText(email), id: null, login: null }
}

const Signature = Type.Object({ verification_status: Maybe(Text) })
/** `verified_system`: signed by GitLab itself. `verified_ca`: by a certificate of an instance. */
const VERIFIED = ['verified', 'verified_system', 'verified_ca']
const UNSIGNED = { verified: false, reason: 'unsigned' }

/** The newest status of a commit under one name: a job, or what another service reported. */
const CommitStatus = Type.Object({
  id: Id,
  name: Text,
  status: Text,
  target_url: Maybe(Text),
  created_at: Maybe(Timestamp),
  started_at: Maybe(Timestamp),
  finished_at: Maybe(Timestamp),
})

const JOB_PAGE = /\/-\/jobs\/\d+$/

function parseCommitStatus(value: unknown, repository: HostRepository, commitSha: string): HostCheck {
  const found = readAs(CommitStatus, value)
  const status = parseStatus(found.status)
  const url = parseText(found.target_url)
  return {
    repository,
    commit_sha: commitSha,
    id: String(found.id),
    name: found.name,
    source: url !== null && JOB_PAGE.test(url) ? 'gitlab-ci' : 'commit_status',
    status,
    url,
    started_at: parseDate(found.started_at ?? found.created_at),
    completed_at: isOpen(status) ? null : parseDate(found.finished_at),
  }
}

type Merged = { sha?: string | null; merge_commit_sha?: string | null; squash_commit_sha?: string | null }

/**
 * The newest commit of the branch after the merge. A fast-forward merge has neither a merge commit
 * nor, without squashing, a new commit.
 */
export function selectLandedCommit({ sha, merge_commit_sha: merge, squash_commit_sha: squash }: Merged): string | null {
  return parseText(merge) ?? parseText(squash) ?? parseText(sha)
}
