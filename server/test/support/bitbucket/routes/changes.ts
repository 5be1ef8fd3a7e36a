import { changedFilesOf, commitsOf } from '../../hosts/history.ts'
import { found, HttpError } from '../../hosts/http-error.ts'
import { created, ok, type Routes } from '../../hosts/rest-request.ts'
import { addComment, setCommitStatus } from '../../hosts/stories/remarks.ts'
import type { BranchRules, PullRequest } from '../../hosts/types.ts'
import type { Json } from '../../json.ts'
import { type Bitbucket, type Caller, hashOf, page, type Request, repositoryOf } from '../api.ts'
import { buildStatusesOf, statusJson } from '../build-statuses.ts'
import { activitiesOf, pullRequestJson, wholePullRequestJson } from '../pull-request-shapes.ts'
import { accountJson, commitJson, timestamp } from '../shapes.ts'

const REPOSITORY = '/2.0/repositories/{workspace}/{repo_slug}'
const PULL = `${REPOSITORY}/pullrequests/{pull_request_id}`
const COMMIT = `${REPOSITORY}/commit/{commit}`

/** Pull requests, build statuses, comments and the restrictions of branches. */
export function changeRoutes(bitbucket: Bitbucket): Routes<Caller> {
  const { world } = bitbucket
  return {
    [`GET ${REPOSITORY}/pullrequests`]: (request) => {
      const states = request.query.getAll('state')
      const pulls = repositoryOf(bitbucket, request).pullRequests.filter((pull) =>
        (states.length === 0 ? ['OPEN'] : states).includes(pullRequestJson(pull).state),
      )
      if (request.query.get('sort') !== '-updated_on') throw new HttpError(400, 'Only -updated_on is known')
      pulls.sort((one, other) => other.updated_at.getTime() - one.updated_at.getTime())
      return page(bitbucket, request, pulls.map(pullRequestJson), { pagelenMax: 50 })
    },
    [`GET ${PULL}`]: (request) => ok(wholePullRequestJson(pullIn(bitbucket, request))),
    [`GET ${PULL}/activity`]: (request) =>
      page(bitbucket, request, activitiesOf(pullIn(bitbucket, request)), { pagelenMax: 50 }),
    [`GET ${PULL}/commits`]: (request) => {
      const pull = pullIn(bitbucket, request)
      const commits = commitsOf(pull.repository, pull).reverse()
      return page(
        bitbucket,
        request,
        commits.map((commit) => commitJson(pull.repository, commit)),
      )
    },
    // Bitbucket redirects to the comparison of both branches.
    [`GET ${PULL}/diffstat`]: (request) => {
      const { pathname } = request.url
      return { status: 302, headers: { location: `${bitbucket.url()}${pathname}/compared` } }
    },
    [`GET ${PULL}/diffstat/compared`]: (request) => {
      const pull = pullIn(bitbucket, request)
      const file = (path: string): Json => ({ type: 'commit_file', path })
      const changed = changedFilesOf(pull.repository, pull).map(({ path, former, status }) => ({
        type: 'diffstat',
        status,
        old: status === 'added' ? null : file(former ?? path),
        new: status === 'removed' ? null : file(path),
      }))
      return page(bitbucket, request, changed, { pagelenMax: 5000, pagelenDefault: 500 })
    },
    [`GET ${COMMIT}/pullrequests`]: () => {
      throw new HttpError(404, 'The repository has no index of commits')
    },
    [`GET ${COMMIT}/statuses`]: (request) => {
      const repository = repositoryOf(bitbucket, request)
      return page(bitbucket, request, buildStatusesOf(repository, hashOf(repository, request.params.commit as string)))
    },
    [`POST ${COMMIT}/statuses/build`]: (request) => {
      const repository = repositoryOf(bitbucket, request)
      const { key, state, name, description, url } = request.body
      if (!key || key.length > 40 || !url) throw new HttpError(400, 'Bad request: key and url are required')
      const states: Record<string, 'success' | 'failure' | 'pending'> = { SUCCESSFUL: 'success', FAILED: 'failure' }
      const sha = hashOf(repository, request.params.commit as string)
      const shown = { sha, state: states[state] ?? 'pending', context: name ?? key, description, target_url: url }
      const status = setCommitStatus(world, repository, { by: world.program, ...shown })
      return created(statusJson(repository, status))
    },
    [`GET ${COMMIT}/comments`]: (request) => {
      const { comments } = repositoryOf(bitbucket, request)
      return page(
        bitbucket,
        request,
        comments.map(({ text }) => ({ type: 'commit_comment', content: { raw: text } })),
      )
    },
    [`POST ${COMMIT}/comments`]: (request) => {
      const repository = repositoryOf(bitbucket, request)
      const sha = hashOf(repository, request.params.commit as string)
      const text = request.body.content.raw
      const comment = addComment(world, repository, { target: { type: 'commit', sha }, by: world.program, text })
      const user = accountJson(world.program)
      return created({ type: 'commit_comment', content: { raw: text }, user, created_on: timestamp(comment.at) })
    },
    [`GET ${REPOSITORY}/branch-restrictions`]: (request) => {
      const { rules } = repositoryOf(bitbucket, request)
      return page(
        bitbucket,
        request,
        [...rules].flatMap(([pattern, own]) => restrictionsOf(pattern, own)),
      )
    },
    [`GET ${REPOSITORY}/effective-branching-model`]: () =>
      ok({ type: 'effective_repo_branching_model', branch_types: [] }),
  }
}

function pullIn(bitbucket: Bitbucket, request: Request): PullRequest {
  const { pullRequests } = repositoryOf(bitbucket, request)
  return found(pullRequests.find(({ number }) => String(number) === request.params.pull_request_id))
}

function restrictionsOf(pattern: string, rules: BranchRules): Json[] {
  const of = (kind: string, more: object = {}): Json => ({
    type: 'branchrestriction',
    ...{ kind, branch_match_kind: 'glob', pattern, users: [], groups: [], ...more },
  })
  const { approvals } = rules
  return [
    ...(approvals === undefined
      ? []
      : [of('push'), of('require_approvals_to_merge', { value: approvals }), of('enforce_merge_checks')]),
    ...(rules.blocksForcePushes ? [of('force')] : []),
    ...(rules.blocksDeletion ? [of('delete')] : []),
    ...(rules.checks ? [of('require_passing_builds_to_merge', { value: rules.checks.length })] : []),
  ].map((rule, index) => ({ ...rule, id: index + 1 }))
}
