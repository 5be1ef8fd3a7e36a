import { changedFilesOf, commitsOf } from '../../hosts/history.ts'
import { found, HttpError } from '../../hosts/http-error.ts'
import { created, ok } from '../../hosts/rest-request.ts'
import { addComment } from '../../hosts/stories/remarks.ts'
import type { PullRequest } from '../../hosts/types.ts'
import { type Gitlab, type GitlabRequest, type GitlabRoutes, iso, page, projectOf, requireUltimate } from '../gitlab.ts'
import { userShape } from '../shapes/accounts.ts'
import { approversOf, mergeRequestEntry, mergeRequestShape, notesOf } from '../shapes/merge-requests.ts'
import { commitShape } from '../shapes/projects.ts'
import { tellWaiting } from './repository.ts'

const PROJECT = '/api/v4/projects/{id}'
const MERGE_REQUEST = `${PROJECT}/merge_requests/{iid}`

export function mergeRequestRoutes(gitlab: Gitlab): GitlabRoutes {
  const { world } = gitlab
  return {
    [`GET ${PROJECT}/merge_requests`]: (request) => {
      const { pullRequests } = projectOf(gitlab, request)
      const sorted = pullRequests.toSorted((one, other) => Number(other.updated_at) - Number(one.updated_at))
      return page(
        request,
        sorted.map((pull) => mergeRequestEntry(gitlab, pull)),
      )
    },
    [`GET ${MERGE_REQUEST}`]: (request) => ok(mergeRequestShape(gitlab, pullOf(gitlab, request))),
    [`GET ${MERGE_REQUEST}/approvals`]: (request) => {
      const approvers = approversOf(pullOf(gitlab, request))
      return ok({
        approved: approvers.length > 0,
        approved_by: approvers.map(({ user, at }) => ({ user: userShape(gitlab, user), approved_at: iso(at) })),
      })
    },
    [`GET ${MERGE_REQUEST}/notes`]: (request) => page(request, notesOf(gitlab, pullOf(gitlab, request))),
    [`POST ${MERGE_REQUEST}/notes`]: (request) => {
      const pull = pullOf(gitlab, request)
      const text: string = request.body.body
      const target = { type: 'pull_request', number: pull.number } as const
      const { id, at } = addComment(world, pull.repository, { target, by: world.program, text })
      tellWaiting(gitlab, pull.repository, pull.head.sha, text)
      const author = userShape(gitlab, world.program)
      return created({ id, body: text, system: false, author, created_at: iso(at) })
    },
    [`GET ${MERGE_REQUEST}/commits`]: (request) => {
      const pull = pullOf(gitlab, request)
      return page(request, commitsOf(pull.repository, pull).toReversed().map(commitShape))
    },
    [`GET ${MERGE_REQUEST}/diffs`]: (request) => {
      const pull = pullOf(gitlab, request)
      return page(
        request,
        changedFilesOf(pull.repository, pull).map(({ path, former, status }) => ({
          old_path: former ?? path,
          new_path: path,
          new_file: status === 'added',
          renamed_file: status === 'renamed',
          deleted_file: status === 'removed',
          diff: '',
        })),
      )
    },
    [`GET ${PROJECT}/merge_trains/merge_requests/{iid}`]: (request) => {
      requireUltimate(gitlab)
      const pull = pullOf(gitlab, request)
      if (!pull.repository.rules.get(pull.base.ref)?.mergeQueue) throw new HttpError(404, '404 Not Found')
      return ok({ id: pull.id, status: pull.state === 'merged' ? 'merged' : 'idle', target_branch: pull.base.ref })
    },
  }
}

function pullOf(gitlab: Gitlab, request: GitlabRequest): PullRequest {
  const { pullRequests } = projectOf(gitlab, request)
  return found(pullRequests.find(({ number }) => String(number) === request.params.iid))
}
