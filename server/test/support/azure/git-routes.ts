import { changedFilesOf, commitsBetween, commitsOf } from '../hosts/history.ts'
import { found, HttpError, notFound } from '../hosts/http-error.ts'
import { created, ok } from '../hosts/rest-request.ts'
import { setCommitStatus } from '../hosts/stories/remarks.ts'
import type { Commit, PullRequest, Repository } from '../hosts/types.ts'
import { commit, identity, pullRequest, push, repository, threads } from './objects.ts'
import { type AzureRequest, type AzureRoutes, list, page, repositoryOf, skipped } from './requests.ts'
import { policies } from './rule-objects.ts'
import { type AzureState, guidOf } from './state.ts'

const REPOSITORY = '/{organization}/{project}/_apis/git/repositories/{repositoryId}'
const PULL = `${REPOSITORY}/pullRequests/{pullRequestId}`

export function gitRoutes(state: AzureState): AzureRoutes {
  const of = (request: AzureRequest) => repositoryOf(state, request)
  const pullOf = (request: AzureRequest) => pullRequestOf(of(request), request)
  return {
    'GET /{organization}/_apis/git/repositories/{repositoryId}': (request) => ok(repository(state, of(request))),
    [`GET ${REPOSITORY}`]: (request) => ok(repository(state, of(request))),
    [`GET ${REPOSITORY}/refs`]: (request) => {
      const filter = `refs/${request.query.get('filter') ?? ''}`
      const refs = [...of(request).refs].filter(([name]) => name.startsWith(filter))
      return list(refs.map(([name, objectId]) => ({ name, objectId, url: '' })))
    },
    [`GET ${REPOSITORY}/items`]: (request) => items(of(request), request),
    [`GET ${REPOSITORY}/pushes`]: (request) => {
      const { query } = request
      const its = of(request)
      const from = new Date(query.get('searchCriteria.fromDate') ?? 0)
      const pushes = its.pushes.filter(({ ref, at }) => ref === query.get('searchCriteria.refName') && at >= from)
      return skipped(
        pushes.toReversed().map((one) => push(state, one, its)),
        request,
      )
    },
    [`GET ${REPOSITORY}/diffs/commits`]: ({ query, ...request }) => {
      const [base, target] = [query.get('baseVersion') ?? '', query.get('targetVersion') ?? '']
      const its = of({ query, ...request })
      const behindCount = commitsBetween(its, target, base).length
      return ok({
        behindCount,
        aheadCount: commitsBetween(its, base, target).length,
        baseCommit: base,
        targetCommit: target,
      })
    },
    [`POST ${REPOSITORY}/commitsbatch`]: (request) => commitsBatch(of(request), request),
    [`POST ${REPOSITORY}/pullrequestquery`]: (request) => {
      const { queries } = request.body as { queries: { items: string[] }[] }
      const merged = of(request).pullRequests.filter((one) => one.state === 'merged')
      const results = queries.map(({ items: shas }) =>
        Object.fromEntries(
          shas.flatMap((sha) => {
            const pulls = merged.filter((one) => one.merge_commit_sha === sha)
            return pulls.length === 0 ? [] : [[sha, pulls.map((one) => pullRequest(state, one))]]
          }),
        ),
      )
      return ok({ queries, results })
    },
    [`GET ${REPOSITORY}/commits/{commitId}`]: (request) =>
      ok(commit(found(of(request).commits.get(request.params.commitId as string)), true)),
    [`GET ${REPOSITORY}/commits/{commitId}/statuses`]: (request) => statuses(state, of(request), request),
    [`POST ${REPOSITORY}/commits/{commitId}/statuses`]: (request) => addStatus(state, of(request), request),
    [`GET ${REPOSITORY}/pullrequests`]: (request) => {
      const pulls = of(request).pullRequests.filter((one) => fits(pullRequest(state, one), request))
      return skipped(
        pulls.toReversed().map((one) => pullRequest(state, one)),
        request,
      )
    },
    [`GET ${REPOSITORY}/pullrequests/{pullRequestId}`]: (request) => ok(pullRequest(state, pullOf(request))),
    [`GET ${PULL}/commits`]: (request) => {
      const pull = pullOf(request)
      const commits = commitsOf(pull.repository, pull).toReversed()
      return page(
        commits.map((one) => commit(one, false)),
        request,
      )
    },
    [`GET ${PULL}/threads`]: (request) => list(threads(state, pullOf(request))),
    [`GET ${PULL}/iterations`]: (request) => {
      const { created_at: at, head, author } = pullOf(request)
      const date = at.toISOString()
      const sourceRefCommit = { commitId: head.sha }
      return list([{ id: 1, createdDate: date, updatedDate: date, author: identity(state, author), sourceRefCommit }])
    },
    [`GET ${PULL}/iterations/{iterationId}/changes`]: (request) => {
      const pull = pullOf(request)
      const changeEntries = changedFilesOf(pull.repository, pull).map(({ path, former, status }, index) => ({
        changeTrackingId: index + 1,
        changeId: index + 1,
        item: { path: `/${path}`, objectId: guidOf(path).replaceAll('-', '') },
        changeType: { added: 'add', removed: 'delete', modified: 'edit', renamed: 'rename' }[status],
        ...(former === null ? {} : { originalPath: `/${former}` }),
      }))
      return ok({ changeEntries, nextSkip: 0, nextTop: 0 })
    },
    'GET /{organization}/{project}/_apis/git/policy/configurations': (request) => {
      const its = repositoryOf(state, {
        ...request,
        params: { ...request.params, repositoryId: request.query.get('repositoryId') ?? '' },
      })
      const branch = (request.query.get('refName') ?? '').replace('refs/heads/', '')
      return page(policies(its, branch, its.rules.get(branch) ?? {}), request)
    },
  }
}

function pullRequestOf({ pullRequests }: Repository, { params }: AzureRequest): PullRequest {
  return found(pullRequests.find(({ number }) => String(number) === params.pullRequestId))
}

function fits({ status, closedDate }: { status: string; closedDate?: string }, { query }: AzureRequest): boolean {
  const wanted = query.get('searchCriteria.status') ?? 'active'
  if (wanted !== 'all' && wanted !== status) return false
  if (query.get('searchCriteria.queryTimeRangeType') !== 'closed') return true
  const [from, to] = [query.get('searchCriteria.minTime'), query.get('searchCriteria.maxTime')]
  const at = closedDate ?? ''
  return (from === null || at >= from) && (to === null || at <= to)
}

function versionOf(repo: Repository, { query }: AzureRequest): Commit {
  const version = query.get('versionDescriptor.version') ?? repo.default_branch
  const isCommit = query.get('versionDescriptor.versionType') === 'commit'
  const one = repo.commits.get((isCommit ? version : repo.refs.get(`refs/heads/${version}`)) ?? '')
  if (one === undefined) throw notFound('TF401175: The version descriptor could not be resolved')
  return one
}

function items(repo: Repository, request: AzureRequest) {
  const { query } = request
  const version = versionOf(repo, request)
  const path = query.get('path')?.replace(/^\//, '')
  if (path !== undefined) {
    const content = version.files.get(path)
    if (content === undefined) throw notFound('TF401174: The item could not be found')
    return ok({ objectId: blobOf(content), gitObjectType: 'blob', commitId: version.sha, path: `/${path}`, content })
  }
  const folder = query.get('scopePath')?.replace(/^\//, '') ?? ''
  const inside = [...version.files].filter(([name]) => name.startsWith(`${folder}/`))
  if (inside.length === 0) throw notFound('TF401174: The item could not be found')
  const direct = inside.filter(([name]) => !name.slice(folder.length + 1).includes('/'))
  return list([
    { objectId: blobOf(folder), gitObjectType: 'tree', path: `/${folder}`, isFolder: true },
    ...direct.map(([name, text]) => ({ objectId: blobOf(text), gitObjectType: 'blob', path: `/${name}` })),
  ])
}

function blobOf(content: string): string {
  return guidOf('blob', content).replaceAll('-', '').padEnd(40, '0')
}

/** Commits by id, or those of one version that another one has not, newest first. */
function commitsBatch(repo: Repository, request: AzureRequest) {
  const { ids, itemVersion, compareVersion } = request.body
  if (ids !== undefined)
    return list((ids as string[]).flatMap((sha) => repo.commits.get(sha) ?? []).map((one) => commit(one, false)))
  if (!repo.commits.has(itemVersion.version) || !repo.commits.has(compareVersion.version))
    throw new HttpError(404, 'TF401175: The version descriptor could not be resolved')
  const between = commitsBetween(repo, itemVersion.version, compareVersion.version).toReversed()
  return skipped(
    between.map((one) => commit(one, false)),
    request,
  )
}

const STATES = { success: 'succeeded', failure: 'failed', pending: 'pending' } as const

function statuses(state: AzureState, repo: Repository, { params }: AzureRequest) {
  const own = repo.statuses.filter(({ sha }) => sha === params.commitId)
  return list(own.map((one) => status(state, one)))
}

function status(state: AzureState, one: Repository['statuses'][0]) {
  const at = one.context.lastIndexOf('/')
  const context = at < 0 ? { name: one.context } : { genre: one.context.slice(0, at), name: one.context.slice(at + 1) }
  return {
    id: one.id,
    state: STATES[one.state],
    ...(one.description === null ? {} : { description: one.description }),
    context,
    creationDate: one.created_at.toISOString(),
    updatedDate: one.updated_at.toISOString(),
    createdBy: identity(state, one.creator),
    ...(one.target_url === null ? {} : { targetUrl: one.target_url }),
  }
}

function addStatus(state: AzureState, repo: Repository, { params, body }: AzureRequest) {
  const { state: word, description = null, targetUrl = null, context } = body
  const made = setCommitStatus(state.world, repo, {
    sha: found(repo.commits.get(params.commitId as string)).sha,
    state: word === 'succeeded' ? 'success' : word === 'pending' ? 'pending' : 'failure',
    context: [context.genre, context.name].filter(Boolean).join('/'),
    description,
    target_url: targetUrl,
    by: state.world.program,
  })
  return created(status(state, made))
}
