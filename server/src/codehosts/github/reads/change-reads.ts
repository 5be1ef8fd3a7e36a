import { Type } from 'typebox'
import type { HostReader } from '../../code-host.ts'
import type { GithubApi } from '../client/github-api.ts'
import { parseCheck, parseCommitStatus } from '../objects/check.parser.ts'
import { readAs } from '../objects/payload.ts'
import { parseReview } from '../objects/pull-request.parser.ts'
import { listPullRequests, PULL_REQUESTS, readPullRequest } from './list-pull-requests.ts'

type ChangeReads = Pick<
  HostReader,
  | 'listPullRequests'
  | 'readPullRequest'
  | 'listReviews'
  | 'listChecks'
  | 'listPullRequestCommits'
  | 'compareCommits'
  | 'listChangedFiles'
  | 'readBranchRules'
  | 'readCodeOwners'
>

const COMMIT = 'GET /repos/{owner}/{repo}/commits/{ref}'

export function changeReads(api: GithubApi): ChangeReads {
  return {
    listPullRequests: listPullRequests(api),

    readPullRequest: (repository, number) => readPullRequest(api, repository, number),

    listReviews: (repository, number) =>
      api.readAll(`${PULL_REQUESTS}/{pull_number}/reviews`, { repository, pull_number: number }, (review) =>
        parseReview(review, repository, number),
      ),

    listPullRequestCommits: async () => null,
    compareCommits: async () => null,
    listChangedFiles: async () => null,
    readBranchRules: async () => null,
    readCodeOwners: async () => null,

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
