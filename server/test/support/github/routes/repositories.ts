import type { OperationName } from '../described.ts'
import { GitHubError } from '../github-error.ts'
import { simpleUser } from '../objects/accounts.ts'
import { wholeInstallation } from '../objects/app.ts'
import { checkRun } from '../objects/check-run.ts'
import { blobSha, commitObject, simplePullRequest } from '../objects/pull-request.ts'
import { fullRepository, minimalRepository } from '../objects/repository.ts'
import { lastAttempt } from '../objects/run.ts'
import { apiUrl, pageUrl } from '../objects/urls.ts'
import { countedList, listOf } from '../pagination.ts'
import { found, type GitHubRequest, type Handler, ok } from '../request.ts'
import type { Commit, CommitStatus, Repository } from '../types.ts'

/** A repository, its commits, files, statuses and rules. */
export const repositoryRoutes = {
  'GET /repos/{owner}/{repo}': ({ world, repository }) => ok(fullRepository(world, repository)),
  'GET /repos/{owner}/{repo}/installation': ({ world, state, repository }) =>
    ok(wholeInstallation(world, state.app, found(state.installationOf(repository)))),
  'GET /repos/{owner}/{repo}/rules/branches/{branch}': (request) =>
    listOf(request, request.repository.rules.get(request.text('branch')) ?? [], (rule) => rule),
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
  'GET /repos/{owner}/{repo}/contents/{path}': readContents,
  'GET /repos/{owner}/{repo}/git/blobs/{file_sha}': readBlob,
} satisfies Partial<Record<OperationName, Handler>>

/** A commit by its SHA, branch or tag. */
function commitOf({ repository }: GitHubRequest, ref: string): Commit {
  const named = [`refs/heads/${ref}`, `refs/tags/${ref}`, `refs/${ref}`, ref].map((name) => repository.refs.get(name))
  const sha = named.find((target) => target !== undefined) ?? ref
  const commit = repository.commits.get(sha)
  if (commit === undefined) throw new GitHubError(422, `No commit found for SHA: ${ref}`)
  return commit
}

function statusObject({ world, state, repository }: GitHubRequest, status: CommitStatus) {
  return {
    ...withoutCreator(world.api, repository, status),
    creator: simpleUser(world, state.account(`${state.app.slug}[bot]`)),
  }
}

function withoutCreator(api: string, repository: Repository, status: CommitStatus) {
  const { id, sha, state, context, description, target_url, created_at } = status
  const url = `${api}/repos/${repository.owner.login}/${repository.name}/statuses/${sha}`
  const times = { created_at, updated_at: created_at }
  return { url, avatar_url: null, id, node_id: `SC_${id}`, state, description, target_url, context, ...times }
}

function combinedStatus(request: GitHubRequest) {
  const { world, repository } = request
  const { sha } = commitOf(request, request.text('ref'))
  const newest = new Map(repository.statuses.filter((status) => status.sha === sha).map((item) => [item.context, item]))
  const states = [...newest.values()].map(({ state }) => state)
  const state = states.some((one) => one === 'failure' || one === 'error')
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

function createStatus(request: GitHubRequest) {
  const { repository, state, body } = request
  const { sha } = commitOf(request, request.text('sha'))
  const status: CommitStatus = {
    id: state.newId(),
    sha,
    state: body.state as CommitStatus['state'],
    context: (body.context as string | undefined) ?? 'default',
    description: (body.description as string | undefined) ?? null,
    target_url: (body.target_url as string | undefined) ?? null,
    created_at: state.clock.now(),
  }
  repository.statuses.push(status)
  return { status: 201, body: statusObject(request, status) }
}

/** A file with its text, or the entries of a folder. */
function readContents(request: GitHubRequest) {
  const { repository, query } = request
  const { files } = commitOf(request, query.get('ref') ?? repository.default_branch)
  const path = request.text('path')
  const text = files.get(path)
  if (text !== undefined) {
    const content = Buffer.from(text).toString('base64')
    return ok({ ...entryOf(request, path, text), encoding: 'base64', content })
  }
  const below = [...files].filter(([name]) => name.startsWith(`${path}/`))
  if (below.length === 0) throw new GitHubError(404, 'Not Found')
  const names = new Set(below.map(([name]) => name.slice(path.length + 1).split('/')[0] as string))
  return ok([...names].sort().map((name) => entryOf(request, `${path}/${name}`, files.get(`${path}/${name}`) ?? null)))
}

function entryOf({ world, repository, query }: GitHubRequest, path: string, text: string | null) {
  const ref = query.get('ref') ?? repository.default_branch
  const sha = blobSha(text ?? path)
  const url = `${apiUrl(world, repository)}/contents/${path}?ref=${ref}`
  const git_url = `${apiUrl(world, repository)}/git/${text === null ? 'trees' : 'blobs'}/${sha}`
  const html_url = `${pageUrl(world, repository)}/${text === null ? 'tree' : 'blob'}/${ref}/${path}`
  return {
    type: text === null ? 'dir' : 'file',
    size: text === null ? 0 : Buffer.byteLength(text),
    name: path.split('/').at(-1),
    path,
    sha,
    url,
    git_url,
    html_url,
    download_url: text === null ? null : `https://raw.githubusercontent.com/${repository.id}/${ref}/${path}`,
    _links: { self: url, git: git_url, html: html_url },
  }
}

function readBlob(request: GitHubRequest) {
  const { repository, world } = request
  const sha = request.text('file_sha')
  const text = found(
    [...repository.commits.values()].flatMap(({ files }) => [...files.values()]).find((one) => blobSha(one) === sha),
  )
  const content = Buffer.from(text).toString('base64')
  const url = `${apiUrl(world, repository)}/git/blobs/${sha}`
  return ok({ sha, node_id: `B_${sha}`, size: Buffer.byteLength(text), url, content, encoding: 'base64' })
}
