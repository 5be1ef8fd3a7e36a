import { found, HttpError } from '../../hosts/http-error.ts'
import { ok, type Routes } from '../../hosts/rest-request.ts'
import { lastAttempt } from '../../hosts/stories/jobs.ts'
import type { Job, Run } from '../../hosts/types.ts'
import { jobDeployments } from '../../hosts/world.ts'
import { type Bitbucket, type Caller, page, type Request, repositoryOf, runOf } from '../api.ts'
import { deploymentJson, pipelineJson, startOf, stepJson } from '../pipeline-shapes.ts'

const REPOSITORY = '/2.0/repositories/{workspace}/{repo_slug}'
const PIPELINE = `${REPOSITORY}/pipelines/{pipeline_uuid}`

/** Pipelines with their steps and logs, and deployments. */
export function pipelineRoutes(bitbucket: Bitbucket): Routes<Caller> {
  return {
    [`GET ${REPOSITORY}/pipelines`]: (request) => {
      if (request.query.get('sort') !== '-created_on') throw new HttpError(400, 'Only -created_on is known')
      const { runs } = repositoryOf(bitbucket, request)
      return page(bitbucket, request, runs.map(pipelineJson), { namesNext: false })
    },
    [`GET ${PIPELINE}`]: (request) => ok(pipelineJson(runIn(bitbucket, request))),
    [`GET ${PIPELINE}/steps`]: (request) =>
      page(bitbucket, request, lastAttempt(runIn(bitbucket, request)).jobs.map(stepJson)),
    [`GET ${PIPELINE}/steps/{step_uuid}/log`]: (request) => {
      const { log, uuid } = stepIn(runIn(bitbucket, request), request)
      if (log === null) throw new HttpError(404, 'The log file does not exist')
      // After the step, the log is in a storage that needs no token.
      const storage = bitbucket.url().replace('127.0.0.1', 'localhost')
      return { status: 307, headers: { location: `${storage}/storage/${uuid}.log?signature=x` } }
    },
    'GET /storage/{name}': ({ params, headers }) => {
      if (headers.authorization !== undefined) throw new HttpError(400, 'The storage takes no token')
      const uuid = (params.name as string).replace('.log', '')
      const jobs = bitbucket.world.repositories.flatMap(({ runs }) => runs.flatMap((run) => lastAttempt(run).jobs))
      return { status: 200, text: jobs.find((job) => job.uuid === uuid)?.log ?? '' }
    },
    [`GET ${REPOSITORY}/deployments`]: (request) => {
      const sort = request.query.get('sort')
      if (sort !== '-state.started_on') throw new HttpError(400, 'Invalid sort attribute provided')
      const all = jobDeployments(repositoryOf(bitbucket, request))
      const waiting = all.filter((one) => startOf(one) === null)
      const started = all.filter((one) => startOf(one) !== null)
      started.sort((one, other) => (startOf(other)?.getTime() ?? 0) - (startOf(one)?.getTime() ?? 0))
      return page(bitbucket, request, [...waiting, ...started].map(deploymentJson))
    },
    [`GET ${REPOSITORY}/deployments/{deployment_uuid}`]: (request) => {
      const deployments = jobDeployments(repositoryOf(bitbucket, request))
      const wanted = (request.params.deployment_uuid as string).replace(/[{}]/g, '')
      return ok(deploymentJson(found(deployments.find(({ uuid }) => uuid === wanted))))
    },
  }
}

function runIn(bitbucket: Bitbucket, request: Request): Run {
  return runOf(repositoryOf(bitbucket, request), request.params.pipeline_uuid as string)
}

function stepIn(run: Run, { params }: Request): Job {
  const wanted = (params.step_uuid as string).replace(/[{}]/g, '')
  return found(lastAttempt(run).jobs.find(({ uuid }) => uuid === wanted))
}
