import { commitsBetween } from '../../hosts/history.ts'
import { found, HttpError } from '../../hosts/http-error.ts'
import { created, ok } from '../../hosts/rest-request.ts'
import { answerRule } from '../../hosts/stories/gates.ts'
import { addComment, setCommitStatus } from '../../hosts/stories/remarks.ts'
import type { Commit, Repository } from '../../hosts/types.ts'
import { jobDeployments } from '../../hosts/world.ts'
import { type Gitlab, type GitlabRequest, type GitlabRoutes, iso, page, projectOf } from '../gitlab.ts'
import { userShape } from '../shapes/accounts.ts'
import { mergeRequestEntry } from '../shapes/merge-requests.ts'
import { isRetried, jobShape, jobsOf } from '../shapes/pipelines.ts'
import { blobId, commitShape } from '../shapes/projects.ts'

const PROJECT = '/api/v4/projects/{id}'
const COMMIT = `${PROJECT}/repository/commits/{sha}`

export function repositoryRoutes(gitlab: Gitlab): GitlabRoutes {
  return { ...fileRoutes(gitlab), ...commitRoutes(gitlab), ...remarkRoutes(gitlab) }
}

function commitAt(repository: Repository, ref: string): Commit {
  const sha = repository.refs.get(`refs/heads/${ref}`) ?? repository.refs.get(`refs/tags/${ref}`) ?? ref
  return found(repository.commits.get(sha))
}

function commitOf(gitlab: Gitlab, request: GitlabRequest): Commit {
  return commitAt(projectOf(gitlab, request), request.params.sha as string)
}

function fileRoutes(gitlab: Gitlab): GitlabRoutes {
  return {
    [`GET ${PROJECT}/repository/tree`]: (request) => {
      const { files } = commitAt(projectOf(gitlab, request), request.query.get('ref') ?? '')
      const folder = `${request.query.get('path')}/`
      const inside = [...files].filter(([path]) => path.startsWith(folder))
      if (inside.length === 0) throw new HttpError(404, '404 Tree Not Found')
      const direct = inside.filter(([path]) => !path.slice(folder.length).includes('/'))
      return page(
        request,
        direct.map(([path, text]) => ({
          id: blobId(text),
          name: path.slice(folder.length),
          type: 'blob',
          path,
          mode: '100644',
        })),
      )
    },
    [`GET ${PROJECT}/repository/blobs/{sha}`]: (request) => {
      const texts = [...projectOf(gitlab, request).commits.values()].flatMap(({ files }) => [...files.values()])
      const text = found(texts.find((one) => blobId(one) === request.params.sha))
      const content = Buffer.from(text).toString('base64')
      return ok({ size: Buffer.byteLength(text), encoding: 'base64', content, sha: request.params.sha })
    },
    [`GET ${PROJECT}/repository/files/{path}`]: (request) => {
      const commit = commitAt(projectOf(gitlab, request), request.query.get('ref') ?? '')
      const path = request.params.path as string
      const text = found(commit.files.get(path))
      const about = { file_path: path, ref: request.query.get('ref'), blob_id: blobId(text), commit_id: commit.sha }
      return ok({ ...about, encoding: 'base64', content: Buffer.from(text).toString('base64') })
    },
    [`GET ${PROJECT}/repository/branches`]: (request) => {
      const { refs } = projectOf(gitlab, request)
      const names = [...refs.keys()].filter((ref) => ref.startsWith('refs/heads/'))
      return page(
        request,
        names.map((ref) => ({ name: ref.slice('refs/heads/'.length) })),
      )
    },
    [`GET ${PROJECT}/repository/branches/{branch}`]: (request) => {
      const repository = projectOf(gitlab, request)
      const sha = found(repository.refs.get(`refs/heads/${request.params.branch}`))
      return ok({ name: request.params.branch, commit: commitShape(found(repository.commits.get(sha))) })
    },
    [`GET ${PROJECT}/ci/lint`]: (request) => {
      const commit = commitAt(projectOf(gitlab, request), request.query.get('sha') ?? '')
      const text = commit.files.get('.gitlab-ci.yml')
      const errors = text === undefined ? ['Please provide content of .gitlab-ci.yml'] : []
      return ok({ valid: errors.length === 0, merged_yaml: text ?? null, errors, warnings: [], includes: [] })
    },
  }
}

function commitRoutes(gitlab: Gitlab): GitlabRoutes {
  return {
    [`GET ${PROJECT}/repository/commits`]: (request) => {
      const repository = projectOf(gitlab, request)
      const [base, head] = (request.query.get('ref_name') ?? '').split('..') as [string, string]
      const commits = commitsBetween(repository, commitAt(repository, base).sha, commitAt(repository, head).sha)
      return page(request, commits.toReversed().map(commitShape))
    },
    [`GET ${COMMIT}`]: (request) => ok(commitShape(commitOf(gitlab, request))),
    [`GET ${COMMIT}/signature`]: (request) => {
      const { signature } = commitOf(gitlab, request)
      if (signature === 'unsigned') throw new HttpError(404, '404 GPG Signature Not Found')
      return ok({ signature_type: 'PGP', verification_status: signature === 'valid' ? 'verified' : 'unverified' })
    },
    [`GET ${COMMIT}/merge_requests`]: (request) => {
      const { sha } = commitOf(gitlab, request)
      const pulls = projectOf(gitlab, request).pullRequests.filter(
        ({ head, merge_commit_sha: landed }) => head.sha === sha || landed === sha,
      )
      return page(
        request,
        pulls.map((pull) => mergeRequestEntry(gitlab, pull)),
      )
    },
    [`GET ${COMMIT}/statuses`]: (request) => {
      const repository = projectOf(gitlab, request)
      const { sha } = commitOf(gitlab, request)
      const runs = repository.runs.filter((run) => run.sha === sha)
      const jobs = runs.flatMap((run) =>
        jobsOf(run)
          .filter((job) => !isRetried(run, job))
          .map((job) => ({ ...jobShape(gitlab, run, job), sha })),
      )
      const reported = repository.statuses.filter((status) => status.sha === sha)
      return page(request, [
        ...jobs.map(({ id, name, status, web_url, created_at, started_at, finished_at }) => ({
          ...{ id, sha, name, status, target_url: web_url, created_at, started_at, finished_at },
        })),
        ...reported.map((status) => statusShape(gitlab, status)),
      ])
    },
    // https://docs.gitlab.com/api/events/, "List visible events for a project": `after` is a day, of
    // which there is nothing any more, and the newest event is first by default.
    [`GET ${PROJECT}/events`]: (request) => {
      const repository = projectOf(gitlab, request)
      const { query } = request
      if (query.get('action') !== 'pushed') throw new HttpError(400, 'The fake knows the action pushed only')
      const since = new Date(`${query.get('after') ?? '1970-01-01'}T23:59:59.999Z`)
      const pushes = repository.pushes.filter(({ at }) => at > since).toReversed()
      return page(
        request,
        pushes.map((push) => ({
          id: push.id,
          project_id: repository.id,
          action_name: push.before === null ? 'pushed new' : push.after === null ? 'deleted' : 'pushed to',
          author_id: push.pusher.id,
          author: userShape(gitlab, push.pusher),
          created_at: iso(push.at),
          push_data: {
            commit_count: push.commits.length,
            action: push.before === null ? 'created' : push.after === null ? 'removed' : 'pushed',
            ref_type: push.ref.startsWith('refs/tags/') ? 'tag' : 'branch',
            commit_from: push.before,
            commit_to: push.after,
            ref: push.ref.replace(/^refs\/(?:heads|tags)\//, ''),
            commit_title: push.commits.at(-1)?.message ?? null,
            ref_count: null,
          },
        })),
      )
    },
  }
}

function statusShape(gitlab: Gitlab, status: Repository['statuses'][number]) {
  const { id, sha, context, state, description, target_url, creator, created_at, updated_at } = status
  return {
    ...{ id, sha, name: context, description, target_url, author: userShape(gitlab, creator) },
    status: { success: 'success', failure: 'failed', pending: 'pending' }[state],
    created_at: iso(created_at),
    started_at: null,
    finished_at: iso(updated_at),
  }
}

function remarkRoutes(gitlab: Gitlab): GitlabRoutes {
  const { world } = gitlab
  return {
    [`POST ${PROJECT}/statuses/{sha}`]: (request) => {
      const repository = projectOf(gitlab, request)
      const { name, state, description = null, target_url = null } = request.body
      const words = { success: 'success', failed: 'failure' } as const
      const fields = { sha: commitOf(gitlab, request).sha, context: name, description, target_url, by: world.program }
      const status = setCommitStatus(world, repository, { ...fields, state: words[state as keyof typeof words] })
      return created(statusShape(gitlab, status))
    },
    [`GET ${COMMIT}/comments`]: (request) => {
      const { sha } = commitOf(gitlab, request)
      const written = projectOf(gitlab, request).comments.filter(
        ({ target }) => target.type === 'commit' && target.sha === sha,
      )
      return page(
        request,
        written.map(({ text, by, at }) => ({
          note: text,
          author: userShape(gitlab, by),
          created_at: iso(at),
        })),
      )
    },
    [`POST ${COMMIT}/comments`]: (request) => {
      const repository = projectOf(gitlab, request)
      const { sha } = commitOf(gitlab, request)
      const text: string = request.body.note
      addComment(world, repository, { target: { type: 'commit', sha }, by: world.program, text })
      tellWaiting(gitlab, repository, sha, text)
      return created({ note: text, author: userShape(gitlab, world.program), created_at: iso(world.now()) })
    },
  }
}

/** People who wait for a decision read the notes on the commit. */
export function tellWaiting({ world, approved }: Gitlab, repository: Repository, sha: string, comment: string): void {
  const waiting = jobDeployments(repository).find(
    (one) => one.sha === sha && one.gates.get('ours') === 'pending' && !approved.has(one),
  )
  if (waiting) answerRule(world, waiting, { state: null, comment })
}
