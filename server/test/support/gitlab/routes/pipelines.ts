import { found, HttpError } from '../../hosts/http-error.ts'
import { ok } from '../../hosts/rest-request.ts'
import { answerRule } from '../../hosts/stories/gates.ts'
import type { Job, Run } from '../../hosts/types.ts'
import { type Gitlab, type GitlabRequest, type GitlabRoutes, page, projectOf } from '../gitlab.ts'
import { isRetried, jobShape, jobsOf, pipelineEntry, pipelineShape } from '../shapes/pipelines.ts'

const PROJECT = '/api/v4/projects/{id}'

export function pipelineRoutes(gitlab: Gitlab): GitlabRoutes {
  return {
    [`GET ${PROJECT}/pipelines`]: (request) => page(request, listPipelines(gitlab, request)),
    [`GET ${PROJECT}/pipelines/{pipeline_id}`]: (request) => ok(pipelineShape(gitlab, runOf(gitlab, request))),
    [`GET ${PROJECT}/pipelines/{pipeline_id}/jobs`]: (request) => {
      const run = runOf(gitlab, request)
      const all = request.query.get('include_retried') === 'true'
      const jobs = jobsOf(run).filter((job) => all || !isRetried(run, job))
      return page(
        request,
        jobs.map((job) => jobShape(gitlab, run, job)),
      )
    },
    [`GET ${PROJECT}/pipelines/{pipeline_id}/bridges`]: (request) => {
      runOf(gitlab, request)
      return page(request, [])
    },
    [`GET ${PROJECT}/jobs/{job_id}`]: (request) => {
      const { run, job } = jobOf(gitlab, request)
      return ok(jobShape(gitlab, run, job))
    },
    [`GET ${PROJECT}/jobs/{job_id}/trace`]: (request) => {
      const { log } = jobOf(gitlab, request).job
      const text = log === null ? '' : `section_start:1796083200:step_script\r\u001b[0K${log}`
      return { status: 200, text }
    },
    [`POST ${PROJECT}/jobs/{job_id}/play`]: (request) => {
      const { run, job } = jobOf(gitlab, request)
      const { deployment } = job
      if (job.status !== 'waiting' || deployment === null) throw new HttpError(400, '400 Bad request - Unplayable Job')
      if (gitlab.edition !== 'free' && !gitlab.approved.has(deployment)) throw new HttpError(403, '403 Forbidden')
      const comment = gitlab.approved.get(deployment)?.comment ?? null
      answerRule(gitlab.world, deployment, { state: 'approved', comment })
      return ok(jobShape(gitlab, run, job))
    },
  }
}

/**
 * GitLab's "Pipelines API", "List project pipelines": child pipelines are not in the list unless
 * `source` is `parent_pipeline`; `updated_after` returns "only pipelines updated after the specified
 * date"; the order is that of `order_by`, `id` by default.
 */
function listPipelines(gitlab: Gitlab, request: GitlabRequest) {
  const { query } = request
  const source = query.get('source')
  const after = new Date(query.get('updated_after') ?? 0)
  const entries = projectOf(gitlab, request)
    .runs.map((run) => pipelineEntry(gitlab, run))
    .filter((one) => (source === null ? one.source !== 'parent_pipeline' : one.source === source))
    .filter(({ updated_at }) => new Date(updated_at ?? 0) > after)
  if (query.get('order_by') !== 'updated_at') return entries
  return entries.sort((one, other) => (other.updated_at ?? '').localeCompare(one.updated_at ?? ''))
}

function runOf(gitlab: Gitlab, request: GitlabRequest): Run {
  return found(gitlab.world.run(projectOf(gitlab, request), request.params.pipeline_id as string))
}

function jobOf(gitlab: Gitlab, request: GitlabRequest): { run: Run; job: Job } {
  const { runs } = projectOf(gitlab, request)
  const all = runs.flatMap((run) => jobsOf(run).map((job) => ({ run, job })))
  return found(all.find(({ job }) => String(job.id) === request.params.job_id))
}
