import { Type } from 'typebox'
import type { HostReader } from '../../code-host.ts'
import { Maybe, readAs, Text } from '../../kit/payload.ts'
import type { GithubApi } from '../client/github-api.ts'
import { parseBranchRules } from '../objects/branch-rules.parser.ts'
import { parseCheck, parseCommitStatus } from '../objects/check.parser.ts'
import { parseReview } from '../objects/pull-request.parser.ts'
import { parseActivity } from '../objects/push.parser.ts'
import { compareCommits, listPullRequestCommits } from './list-commits.ts'
import { listPullRequests, PULL_REQUESTS, readPullRequest } from './list-pull-requests.ts'
import { readCodeOwners } from './read-code-owners.ts'

type ChangeReads = Pick<
  HostReader,
  | 'listPullRequests'
  | 'readPullRequest'
  | 'listPushes'
  | 'listReviews'
  | 'listChecks'
  | 'listPullRequestCommits'
  | 'compareCommits'
  | 'listChangedFiles'
  | 'readBranchRules'
  | 'readCodeOwners'
>

/** GitHub lists no more files of a pull request. */
const CHANGED_FILES_MAX = 3000

const ACTIVITY = 'GET /repos/{owner}/{repo}/activity'
const COMMIT = 'GET /repos/{owner}/{repo}/commits/{ref}'

export function changeReads(api: GithubApi): ChangeReads {
  return {
    listPullRequests: listPullRequests(api),

    listPushes: (repository, branch, options) =>
      api.readPage(ACTIVITY, { repository, ref: `refs/heads/${branch}` }, options, (activity) =>
        parseActivity(activity, repository),
      ),

    readPullRequest: (repository, number) => readPullRequest(api, repository, number),

    listReviews: (repository, number) =>
      api.readAll(`${PULL_REQUESTS}/{pull_number}/reviews`, { repository, pull_number: number }, (review) =>
        parseReview(review, repository, number),
      ),

    listPullRequestCommits: listPullRequestCommits(api),

    compareCommits: compareCommits(api),

    async listChangedFiles(repository, number) {
      const values = await api.readList(`${PULL_REQUESTS}/{pull_number}/files`, { repository, pull_number: number })
      if (values === null) return null
      const files = api.parseItems(values, parseChangedFile)
      const isWhole = files.length === values.length && values.length < CHANGED_FILES_MAX
      return { paths: [...new Set(files.flatMap(({ paths }) => paths))], complete: isWhole }
    },

    /** Without a rule, the branch can still have classic protection, which is not read. */
    async readBranchRules(repository, branch) {
      const rules = await api.readList('GET /repos/{owner}/{repo}/rules/branches/{branch}', { repository, branch })
      return rules === null || rules.length === 0 ? null : api.parseItem(rules, () => parseBranchRules(rules))
    },

    readCodeOwners: readCodeOwners(api),

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

const ChangedFile = Type.Object({ filename: Text, status: Maybe(Text), previous_filename: Maybe(Text) })

/** The path of a file, and the former one of a moved file. The source of a copy is unchanged. */
function parseChangedFile(value: unknown): { paths: string[] } {
  const { filename, status, previous_filename: former } = readAs(ChangedFile, value)
  return { paths: former && status !== 'copied' ? [filename, former] : [filename] }
}

const CombinedStatus = Type.Object({ statuses: Type.Array(Type.Unknown()) })
