import { changedFilesOf, commitsOf } from '../../hosts/history.ts'
import { found } from '../../hosts/http-error.ts'
import { ok } from '../../hosts/rest-request.ts'
import type { PullRequest } from '../../hosts/types.ts'
import type { OperationName } from '../described.ts'
import { commitObject, diffEntry } from '../objects/commit.ts'
import { reviewObject, simplePullRequest, stateOf, wholePullRequest } from '../objects/pull-request.ts'
import { listOf } from '../pagination.ts'
import type { GitHubRequest, Handler } from '../request.ts'

/** GitHub lists no more than these. */
const COMMITS_MAX = 250
const FILES_MAX = 3000

export const pullRoutes = {
  'GET /repos/{owner}/{repo}/pulls': listPulls,
  'GET /repos/{owner}/{repo}/pulls/{pull_number}': (request) =>
    ok(wholePullRequest(request.world, request.repository, pullOf(request))),
  'GET /repos/{owner}/{repo}/pulls/{pull_number}/commits': (request) => {
    const { repository, world } = request
    const commits = commitsOf(repository, pullOf(request)).slice(0, COMMITS_MAX)
    return listOf(request, commits, (one) => commitObject(world, repository, one))
  },
  'GET /repos/{owner}/{repo}/pulls/{pull_number}/files': (request) => {
    const { repository, world } = request
    const pull = pullOf(request)
    const files = changedFilesOf(repository, pull).slice(0, FILES_MAX)
    return listOf(request, files, (file) => diffEntry(world, repository, pull.head.sha, file))
  },
  'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews': (request) => {
    const { repository, world } = request
    const pull = pullOf(request)
    return listOf(request, pull.reviews, (review) => reviewObject(world, repository, pull, review))
  },
} satisfies Partial<Record<OperationName, Handler>>

function pullOf(request: GitHubRequest): PullRequest {
  return found(request.repository.pullRequests.find(({ number }) => number === request.number('pull_number')))
}

function listPulls(request: GitHubRequest) {
  const { repository, query, world } = request
  const state = query.get('state') ?? 'open'
  const base = query.get('base')
  const key = query.get('sort') === 'updated' ? 'updated_at' : 'created_at'
  const sign = (query.get('direction') ?? 'desc') === 'desc' ? -1 : 1
  const pulls = repository.pullRequests
    .filter((pull) => (state === 'all' || stateOf(pull) === state) && (base === null || pull.base.ref === base))
    .sort((one, other) => sign * (one[key].getTime() - other[key].getTime() || one.number - other.number))
  return listOf(request, pulls, (pull) => simplePullRequest(world, repository, pull))
}
