import { changedFilesOf, commitsOf } from '../../hosts/history.ts'
import { found, HttpError } from '../../hosts/http-error.ts'
import { created, ok } from '../../hosts/rest-request.ts'
import { addComment } from '../../hosts/stories/remarks.ts'
import type { PullRequest } from '../../hosts/types.ts'
import {
  type Gitlab,
  type GitlabRequest,
  type GitlabRoutes,
  iso,
  ordered,
  page,
  projectOf,
  requireUltimate,
} from '../gitlab.ts'
import { userShape } from '../shapes/accounts.ts'
import { approversOf, mergeRequestEntry, mergeRequestShape, notesOf } from '../shapes/merge-requests.ts'
import { commitShape } from '../shapes/projects.ts'
import { tellWaiting } from './repository.ts'

const PROJECT = '/api/v4/projects/{id}'
const MERGE_REQUEST = `${PROJECT}/merge_requests/{iid}`

/**
 * The order of merge requests (https://docs.gitlab.com/api/merge_requests/, "List project merge
 * requests") and of their notes (https://docs.gitlab.com/api/notes/): by default `created_at`, `desc`.
 */
const TIMES = {
  created_at: (one: { created_at: string | null }) => one.created_at,
  updated_at: (one: { updated_at: string | null }) => one.updated_at,
}

export function mergeRequestRoutes(gitlab: Gitlab): GitlabRoutes {
  const { world } = gitlab
  return {
    [`GET ${PROJECT}/merge_requests`]: (request) => {
      const wanted = request.query.get('state') ?? 'all'
      const after = new Date(request.query.get('updated_after') ?? 0).toISOString()
      const entries = projectOf(gitlab, request)
        .pullRequests.map((pull) => mergeRequestEntry(gitlab, pull))
        .filter(({ state, updated_at }) => ['all', state].includes(wanted) && (updated_at ?? '') > after)
      return page(request, ordered(request, entries, { by: TIMES, sort: 'desc' }))
    },
    [`GET ${MERGE_REQUEST}`]: (request) => ok(mergeRequestShape(gitlab, pullOf(gitlab, request))),
    [`GET ${MERGE_REQUEST}/approvals`]: (request) => {
      const approvers = approversOf(pullOf(gitlab, request))
      return ok({
        approved: approvers.length > 0,
        approved_by: approvers.map(({ user, at }) => ({ user: userShape(gitlab, user), approved_at: iso(at) })),
      })
    },
    [`GET ${MERGE_REQUEST}/notes`]: (request) =>
      page(request, ordered(request, notesOf(gitlab, pullOf(gitlab, request)), { by: TIMES, sort: 'desc' })),
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
