import { found, HttpError } from '../../hosts/http-error.ts'
import { ok } from '../../hosts/rest-request.ts'
import { answerRule } from '../../hosts/stories/gates.ts'
import type { Job, Run } from '../../hosts/types.ts'
import { type Gitlab, type GitlabRequest, type GitlabRoutes, ordered, page, projectOf } from '../gitlab.ts'
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
 * https://docs.gitlab.com/api/pipelines/, "List project pipelines": "By default, child pipelines are
 * not included in the results. To return child pipelines, set `source` to `parent_pipeline`." Of
 * `updated_after`: "Return pipelines updated after the specified date." The order is that of
 * `order_by`, `id` by default, and `sort`, `desc` by default.
 */
function listPipelines(gitlab: Gitlab, request: GitlabRequest) {
  const { query } = request
  const source = query.get('source')
  const after = new Date(query.get('updated_after') ?? 0)
  const entries = projectOf(gitlab, request)
    .runs.map((run) => pipelineEntry(gitlab, run))
    .filter((one) => (source === null ? one.source !== 'parent_pipeline' : one.source === source))
    .filter(({ updated_at }) => new Date(updated_at ?? 0) > after)
  return ordered(request, entries, { by: { id: ({ id }) => id, updated_at: (one) => one.updated_at }, sort: 'desc' })
}

function runOf(gitlab: Gitlab, request: GitlabRequest): Run {
  return found(gitlab.world.run(projectOf(gitlab, request), request.params.pipeline_id as string))
}

function jobOf(gitlab: Gitlab, request: GitlabRequest): { run: Run; job: Job } {
  const { runs } = projectOf(gitlab, request)
  const all = runs.flatMap((run) => jobsOf(run).map((job) => ({ run, job })))
  return found(all.find(({ job }) => String(job.id) === request.params.job_id))
}
