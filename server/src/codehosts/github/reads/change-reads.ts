import { Type } from 'typebox'
import type { HostReader } from '../../code-host.ts'
import type { GithubApi } from '../client/github-api.ts'
import { parseCheck, parseCommitStatus } from '../objects/check.parser.ts'
import { readAs } from '../objects/payload.ts'
import { parsePullRequest, parseReview } from '../objects/pull-request.parser.ts'

type ChangeReads = Pick<HostReader, 'listPullRequests' | 'readPullRequest' | 'listReviews' | 'listChecks'>

const PULL_REQUESTS = 'GET /repos/{owner}/{repo}/pulls'
const COMMIT = 'GET /repos/{owner}/{repo}/commits/{ref}'

export function changeReads(api: GithubApi): ChangeReads {
  return {
    listPullRequests: (repository, options) =>
      api.readPage(PULL_REQUESTS, { repository, state: 'all', sort: 'updated', direction: 'desc' }, options, (pull) =>
        parsePullRequest(pull, repository),
      ),

    async readPullRequest(repository, number) {
      const pull = await api.read(`${PULL_REQUESTS}/{pull_number}`, { repository, pull_number: number })
      return pull && parsePullRequest(pull, repository)
    },

    listReviews: (repository, number) =>
      api.readAll(`${PULL_REQUESTS}/{pull_number}/reviews`, { repository, pull_number: number }, (review) =>
        parseReview(review, repository, number),
      ),

    /** The newest check runs of Apps, and the newest statuses of other services. */
    async listChecks(repository, commitSha) {
      const parameters = { repository, ref: commitSha }
      const checks = await api.readAll(`${COMMIT}/check-runs`, parameters, (check) => parseCheck(check, repository))
      const combined = await api.read(`${COMMIT}/status`, { ...parameters, per_page: 100 })
      const { statuses } = combined === null ? { statuses: [] } : readAs(CombinedStatus, combined)
      return [...checks, ...api.parseItems(statuses, (status) => parseCommitStatus(status, repository, commitSha))]
    },
  }
}

const CombinedStatus = Type.Object({ statuses: Type.Array(Type.Unknown()) })
