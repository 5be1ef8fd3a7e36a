import { changedFiles, commitsBetween, mergeBaseOf } from '../../hosts/history.ts'
import { found, HttpError } from '../../hosts/http-error.ts'
import { ok } from '../../hosts/rest-request.ts'
import { lastAttempt } from '../../hosts/stories/jobs.ts'
import type { Commit, CommitStatus, Repository } from '../../hosts/types.ts'
import { fullName } from '../../hosts/world.ts'
import type { OperationName } from '../described.ts'
import { simpleUser } from '../objects/accounts.ts'
import { checkRun } from '../objects/check-run.ts'
import { commitObject, diffEntry } from '../objects/commit.ts'
import { simplePullRequest } from '../objects/pull-request.ts'
import { minimalRepository } from '../objects/repository.ts'
import { apiUrl, pageUrl } from '../objects/urls.ts'
import { countedList, listOf, pageOf } from '../pagination.ts'
import type { GitHubRequest, Handler } from '../request.ts'

/** Commits, what was checked about them, and comparisons. */
export const commitRoutes = {
  'GET /repos/{owner}/{repo}/compare/{basehead}': compareCommits,
  'GET /repos/{owner}/{repo}/commits/{ref}': (request) => {
    const commit = commitOf(request, request.text('ref'))
    return ok({ ...commitObject(request.world, request.repository, commit), files: [] })
  },
  'GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls': (request) => {
    const { repository, world } = request
    const sha = request.text('commit_sha')
    const pulls = repository.pullRequests.filter((pull) => pull.merge_commit_sha === sha || pull.head.sha === sha)
    return listOf(request, pulls, (pull) => simplePullRequest(world, repository, pull))
  },
  'GET /repos/{owner}/{repo}/commits/{ref}/check-runs': (request) => {
    const { repository, world } = request
    const { sha } = commitOf(request, request.text('ref'))
    const checks = repository.runs
      .filter((run) => run.sha === sha)
      .flatMap((run) =>
        lastAttempt(run)
          .jobs.filter(({ status }) => status !== null)
          .map((job) => ({ run, job })),
      )
    return countedList(request, 'check_runs', checks, ({ run, job }) => checkRun(world, run, job))
  },
  'GET /repos/{owner}/{repo}/commits/{ref}/status': combinedStatus,
  'GET /repos/{owner}/{repo}/commits/{ref}/statuses': (request) => {
    const { sha } = commitOf(request, request.text('ref'))
    const statuses = request.repository.statuses.filter((status) => status.sha === sha).reverse()
    return listOf(request, statuses, (status) => statusObject(request, status))
  },
  'POST /repos/{owner}/{repo}/statuses/{sha}': createStatus,
} satisfies Partial<Record<OperationName, Handler>>

/** A commit by its SHA, branch or tag. */
export function commitOf({ repository }: GitHubRequest, ref: string): Commit {
  const named = [`refs/heads/${ref}`, `refs/tags/${ref}`, `refs/${ref}`, ref].map((name) => repository.refs.get(name))
  const sha = named.find((target) => target !== undefined) ?? ref
  const commit = repository.commits.get(sha)
  if (commit === undefined) throw new HttpError(422, `No commit found for SHA: ${ref}`)
  return commit
}

/** GitHub shows the changed files on the first page only. */
const COMPARED_FILES_MAX = 300

function compareCommits(request: GitHubRequest) {
  const { world, repository } = request
  const [base, head] = request
    .text('basehead')
    .split('...')
    .map((ref) => commitOf(request, ref)) as [Commit, Commit]
  const common = found(mergeBaseOf(repository, base.sha, head.sha))
  const ahead = commitsBetween(repository, base.sha, head.sha)
  const behind = commitsBetween(repository, head.sha, base.sha)
  const { items: commits, headers } = pageOf(request, ahead, (one) => commitObject(world, repository, one))
  const page = `${pageUrl(world, repository)}/compare/${base.sha}...${head.sha}`
  const files = changedFiles(repository, common, head.sha).slice(0, COMPARED_FILES_MAX)
  const isFirst = Number(request.query.get('page') ?? 1) === 1
  const body = {
    url: `${apiUrl(world, repository)}/compare/${base.sha}...${head.sha}`,
    html_url: page,
    permalink_url: page,
    diff_url: `${page}.diff`,
    patch_url: `${page}.patch`,
    base_commit: commitObject(world, repository, base),
    merge_base_commit: commitObject(world, repository, common),
    status: statusOf(ahead.length, behind.length),
    ahead_by: ahead.length,
    behind_by: behind.length,
    total_commits: ahead.length,
    commits,
    ...(isFirst ? { files: files.map((file) => diffEntry(world, repository, head.sha, file)) } : {}),
  }
  return ok(body, headers)
}

function statusOf(ahead: number, behind: number): string {
  if (ahead > 0) return behind > 0 ? 'diverged' : 'ahead'
  return behind > 0 ? 'behind' : 'identical'
}

function statusObject({ world, repository }: GitHubRequest, status: CommitStatus) {
  return { ...withoutCreator(world.api, repository, status), creator: simpleUser(world, status.creator) }
}

function withoutCreator(api: string, repository: Repository, status: CommitStatus) {
  const { id, sha, state, context, description, target_url, created_at } = status
  const url = `${api}/repos/${fullName(repository)}/statuses/${sha}`
  const times = { created_at, updated_at: created_at }
  return { url, avatar_url: null, id, node_id: `SC_${id}`, state, description, target_url, context, ...times }
}

function combinedStatus(request: GitHubRequest) {
  const { world, repository } = request
  const { sha } = commitOf(request, request.text('ref'))
  const newest = new Map(repository.statuses.filter((status) => status.sha === sha).map((item) => [item.context, item]))
  const states = [...newest.values()].map(({ state }) => state)
  const state = states.includes('failure')
    ? 'failure'
    : states.length > 0 && states.every((one) => one === 'success')
      ? 'success'
      : 'pending'
  const url = `${apiUrl(world, repository)}/commits/${sha}`
  return ok({
    state,
    statuses: [...newest.values()].map((status) => withoutCreator(world.api, repository, status)),
    sha,
    total_count: newest.size,
    repository: minimalRepository(world, repository),
    commit_url: url,
    url: `${url}/status`,
  })
}

/** GitHub keeps all statuses of a context: the newest one counts. */
function createStatus(request: GitHubRequest) {
  const { repository, world, body } = request
  const at = world.now()
  const status: CommitStatus = {
    ...world.newIds(),
    sha: commitOf(request, request.text('sha')).sha,
    state: body.state as CommitStatus['state'],
    context: (body.context as string | undefined) ?? 'default',
    description: (body.description as string | undefined) ?? null,
    target_url: (body.target_url as string | undefined) ?? null,
    creator: world.program,
    created_at: at,
    updated_at: at,
  }
  repository.statuses.push(status)
  return { status: 201, body: statusObject(request, status) }
}
