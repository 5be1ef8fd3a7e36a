import { found, HttpError, notFound } from '../hosts/http-error.ts'
import { noContent, ok } from '../hosts/rest-request.ts'
import { answerRule } from '../hosts/stories/gates.ts'
import { lastAttempt } from '../hosts/stories/jobs.ts'
import type { Run } from '../hosts/types.ts'
import { jobDeployments } from '../hosts/world.ts'
import { build, checkpointId, checkSuite, deploymentRecord, timeline, timelineId } from './pipeline-objects.ts'
import { type AzureRequest, type AzureRoutes, list, page, projectOf, runOf } from './requests.ts'
import { approval, deployingJobs, environmentChecks } from './rule-objects.ts'
import type { AzureState, ProjectEnvironment, WaitingCheck } from './state.ts'

const PROJECT = '/{organization}/{project}/_apis'
const BUILD = `${PROJECT}/build/builds/{buildId}`
const ENVIRONMENT = `${PROJECT}/distributedtask/environments`
const PLAN = '/{organization}/{scopeIdentifier}/_apis/distributedtask/hubs/{hubName}/plans/{planId}'

export function pipelineRoutes(state: AzureState): AzureRoutes {
  return {
    [`GET ${PROJECT}/build/builds`]: (request) => page(listBuilds(state, request), request),
    [`GET ${BUILD}`]: (request) => ok(build(state, runOf(state, request))),
    [`GET ${BUILD}/timeline`]: (request) => {
      const run = runOf(state, request)
      return ok(timeline(run, lastAttempt(run).number))
    },
    [`GET ${BUILD}/timeline/{timelineId}`]: (request) => {
      const run = runOf(state, request)
      const attempt = run.attempts.find(({ number }) => timelineId(run, number) === request.params.timelineId)
      return ok(timeline(run, found(attempt).number))
    },
    [`GET ${BUILD}/logs`]: (request) =>
      list(logsOf(runOf(state, request)).map(({ id, lines }) => ({ id, type: 'Container', lineCount: lines.length }))),
    [`GET ${BUILD}/logs/{logId}`]: (request) => {
      const log = found(logsOf(runOf(state, request)).find(({ id }) => String(id) === request.params.logId))
      const value = log.lines.slice(Number(request.query.get('startLine') ?? 0))
      return {
        status: 200,
        text: JSON.stringify({ count: value.length, value }),
        headers: { 'content-type': 'application/json' },
      }
    },
    [`GET ${PROJECT}/build/definitions/{definitionId}`]: (request) => {
      const all = state.repositoriesOf(projectOf(state, request)).flatMap((one) => [...one.workflows.values()])
      const { id, name } = found(all.find((one) => String(one.id) === request.params.definitionId))
      return ok({ id, name, path: '\\', type: 'build' })
    },
    [`GET ${ENVIRONMENT}`]: (request) => {
      const name = request.query.get('name')?.toLowerCase()
      const all = state.environmentsOf(projectOf(state, request))
      const fitting = all.filter((one) => name === undefined || one.name.toLowerCase().startsWith(name))
      return page(
        fitting.map(({ id, name: own }) => ({ id, name: own })),
        request,
      )
    },
    [`GET ${ENVIRONMENT}/{environmentId}`]: (request) => {
      const { id, name } = environmentOf(state, request)
      return ok({ id, name })
    },
    [`GET ${ENVIRONMENT}/{environmentId}/environmentdeploymentrecords`]: (request) => {
      const { id, of } = environmentOf(state, request)
      const deployments = of.flatMap(({ repository, environment }) =>
        jobDeployments(repository).filter((one) => one.environment === environment),
      )
      const records = deployments.flatMap((one) => deploymentRecord(state, one, id) ?? [])
      return page(
        records.sort((one, other) => other.queueTime.localeCompare(one.queueTime)),
        request,
      )
    },
    [`GET ${PROJECT}/pipelines/checks/configurations`]: (request) => {
      const params = { ...request.params, environmentId: request.query.get('resourceId') ?? '' }
      const connection = state.connectionOf(projectOf(state, request))?.id ?? null
      return list(environmentChecks(state, environmentOf(state, { ...request, params }), connection))
    },
    [`GET ${PROJECT}/pipelines/checks/runs/{checkSuiteId}`]: (request) => {
      const project = projectOf(state, request)
      for (const run of state.repositoriesOf(project).flatMap((one) => one.runs))
        for (const job of deployingJobs(run))
          if (checkpointId(run, job) === request.params.checkSuiteId)
            return ok(checkSuite(state.environmentsOf(project), run, job))
      throw notFound()
    },
    [`GET ${PROJECT}/pipelines/approvals`]: (request) => {
      const wanted = (request.query.get('approvalIds') ?? '').split(',')
      const runs = state.repositoriesOf(projectOf(state, request)).flatMap((one) => one.runs)
      const all = runs.flatMap((run) => deployingJobs(run).flatMap((job) => approval(state, run, job) ?? []))
      return list(all.filter(({ id }) => wanted.includes(id)))
    },
    [`POST ${PLAN}/events`]: (request) => {
      const { check, name, result } = answered(state, request)
      if (name !== 'TaskCompleted') throw notFound('The event is not known')
      const decision = result === 'succeeded' ? 'approved' : 'rejected'
      answerRule(state.world, check.deployment, { state: decision, comment: lastText(state, check) })
      return noContent()
    },
    [`POST ${PLAN}/logs`]: (request) => {
      const { check } = answered(state, request)
      check.log = state.world.newIds().id
      state.logs.set(`${check.plan} ${check.log}`, { id: check.log, lines: [] })
      return ok({ id: check.log, path: request.body.path, lineCount: 0 })
    },
    [`POST ${PLAN}/logs/{logId}`]: (request) => {
      const { check } = answered(state, request)
      const log = found(state.logs.get(`${check.plan} ${request.params.logId}`))
      log.lines.push(String(request.body).trimEnd())
      return ok({ id: log.id, path: 'logs', lineCount: log.lines.length })
    },
    [`PATCH ${PLAN}/timelines/{timelineId}/records`]: (request) => {
      const { check } = answered(state, request)
      answerRule(state.world, check.deployment, { state: null, comment: lastText(state, check) })
      return list([])
    },
  }
}

function lastText(state: AzureState, { plan, log }: WaitingCheck): string | null {
  return state.logs.get(`${plan} ${log}`)?.lines.join('\n') ?? null
}

/** The check whose job's token the request has. */
function answered(state: AzureState, { caller, params, body }: AzureRequest) {
  const check = found(caller?.check)
  if (check.plan !== params.planId || !state.checks.includes(check)) throw notFound('The plan does not exist')
  return { check, ...(body as { name?: string; result?: string }) }
}

function environmentOf(state: AzureState, request: AzureRequest): ProjectEnvironment {
  const all = state.environmentsOf(projectOf(state, request))
  return found(all.find(({ id }) => String(id) === request.params.environmentId))
}

/**
 * "Builds - List" (Azure DevOps REST API 7.1): `minTime`: "filters to builds that
 * finished/started/queued after this date based on the queryOrder specified". `repositoryId` goes
 * with `repositoryType`.
 */
function listBuilds(state: AzureState, request: AzureRequest) {
  const { query } = request
  if (query.has('repositoryId') && !query.has('repositoryType')) throw new HttpError(400, 'No repositoryType')
  const ids = query.get('buildIds')?.split(',')
  const repositoryId = query.get('repositoryId')
  const from = query.get('minTime') ?? ''
  const timeOf = (one: ReturnType<typeof build>) =>
    query.get('queryOrder') === 'finishTimeDescending' ? one.finishTime : one.queueTime
  const runs = state.repositoriesOf(projectOf(state, request)).flatMap((one) => one.runs)
  return runs
    .filter(({ id }) => ids === undefined || ids.includes(String(id)))
    .filter(({ repository }) => repositoryId === null || repository.uuid === repositoryId)
    .map((run) => build(state, run))
    .filter((one) => (timeOf(one) ?? '') >= from)
    .filter(({ status }) => query.get('statusFilter') === null || status === query.get('statusFilter'))
    .sort((one, other) => (timeOf(other) ?? '').localeCompare(timeOf(one) ?? ''))
}

function logsOf(run: Run): { id: number; lines: string[] }[] {
  const jobs = new Set(run.attempts.flatMap((attempt) => attempt.jobs))
  return [...jobs].flatMap(({ id, log }) => (log === null ? [] : { id, lines: log.split('\n') }))
}
