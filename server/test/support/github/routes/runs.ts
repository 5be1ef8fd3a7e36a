import { found, HttpError } from '../../hosts/http-error.ts'
import { ok } from '../../hosts/rest-request.ts'
import { answerRule } from '../../hosts/stories/gates.ts'
import { lastAttempt } from '../../hosts/stories/jobs.ts'
import type { Attempt, Job, RuleAnswer, Run } from '../../hosts/types.ts'
import type { OperationName } from '../described.ts'
import { simpleUser } from '../objects/accounts.ts'
import { annotationObject, checkRun } from '../objects/check-run.ts'
import { approvedEnvironment, pendingDeployment } from '../objects/deployment.ts'
import { eventOf, jobObject, workflowRun } from '../objects/run.ts'
import { countedList, listOf } from '../pagination.ts'
import type { GitHubRequest, Handler } from '../request.ts'

/** GitHub shows at most 1,000 runs of a filtered list, and counts no more. */
const FILTERED_RUNS_MAX = 1000

export const runRoutes = {
  'GET /repos/{owner}/{repo}/actions/runs': listRuns,
  'GET /repos/{owner}/{repo}/actions/runs/{run_id}': (request) => ok(workflowRun(request.world, runOf(request))),
  'GET /repos/{owner}/{repo}/actions/runs/{run_id}/attempts/{attempt_number}': (request) => {
    const run = runOf(request)
    return ok(workflowRun(request.world, run, attemptOf(request, run)))
  },
  'GET /repos/{owner}/{repo}/actions/runs/{run_id}/attempts/{attempt_number}/jobs': (request) => {
    const run = runOf(request)
    return listJobs(request, run, attemptOf(request, run).jobs)
  },
  'GET /repos/{owner}/{repo}/actions/runs/{run_id}/jobs': (request) => {
    const run = runOf(request)
    const all = request.query.get('filter') === 'all'
    return listJobs(request, run, all ? run.attempts.flatMap(({ jobs }) => jobs) : lastAttempt(run).jobs)
  },
  'GET /repos/{owner}/{repo}/actions/runs/{run_id}/approvals': (request) => {
    const run = runOf(request)
    return ok(
      run.approvals.toReversed().map(({ deployment, state, user, comment }) => ({
        environments: [approvedEnvironment(request.world, run.repository, deployment.environment)],
        state,
        user: simpleUser(request.world, user),
        comment,
      })),
    )
  },
  'GET /repos/{owner}/{repo}/actions/runs/{run_id}/pending_deployments': (request) => {
    const run = runOf(request)
    const waiting = lastAttempt(run).jobs.flatMap(({ status, deployment }) =>
      status === 'waiting' && deployment !== null ? [deployment] : [],
    )
    return ok(waiting.map((deployment) => pendingDeployment(request.world, deployment)))
  },
  'POST /repos/{owner}/{repo}/actions/runs/{run_id}/deployment_protection_rule': answerOurs,
  'GET /repos/{owner}/{repo}/actions/jobs/{job_id}': (request) => {
    const { run, job } = jobOf(request, 'job_id')
    return ok(jobObject(request.world, run, job))
  },
  'GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs': (request) => {
    const { job } = jobOf(request, 'job_id')
    if (job.log === null) throw new HttpError(404, 'Not Found')
    const location = `${request.world.api}/_logs/${request.repository.id}/${job.id}?sig=${job.id * 7}`
    return { status: 302, headers: { location } }
  },
  'GET /repos/{owner}/{repo}/check-runs/{check_run_id}': (request) => {
    const { run, job } = jobOf(request, 'check_run_id')
    return ok(checkRun(request.world, run, job))
  },
  'GET /repos/{owner}/{repo}/check-runs/{check_run_id}/annotations': (request) => {
    const { run, job } = jobOf(request, 'check_run_id')
    return listOf(request, job.annotations, (annotation) => annotationObject(request.world, run, annotation))
  },
} satisfies Partial<Record<OperationName, Handler>>

function listRuns(request: GitHubRequest) {
  const { repository, query, world } = request
  const filters = ['created', 'branch', 'event', 'status', 'head_sha', 'actor'].filter((name) => query.has(name))
  const matching = repository.runs.filter((run) => filters.every((name) => fits(run, name, query.get(name) as string)))
  const runs = filters.length === 0 ? matching : matching.slice(0, FILTERED_RUNS_MAX)
  return countedList(request, 'workflow_runs', runs, (run) => workflowRun(world, run))
}

function fits(run: Run, filter: string, wanted: string): boolean {
  const { status, conclusion } = lastAttempt(run)
  if (filter === 'created') return isWithin(run.created_at, wanted)
  if (filter === 'branch') return run.branch === wanted
  if (filter === 'event') return eventOf(run) === wanted
  if (filter === 'head_sha') return run.sha === wanted
  if (filter === 'actor') return run.actor.login === wanted
  return status === wanted || conclusion === wanted
}

/** `>=2026-01-01`, `<2026-01-01T10:00:00Z`, `2026-01-01..2026-02-01`, a whole day. */
function isWithin(date: Date, range: string): boolean {
  const time = (text: string) => new Date(text).getTime()
  if (range.includes('..')) {
    const [from, to] = range.split('..') as [string, string]
    return (from === '*' || date.getTime() >= time(from)) && (to === '*' || date.getTime() <= endOf(to))
  }
  const [, sign = '', text = ''] = /^(>=|<=|>|<|)(.*)$/.exec(range) ?? []
  if (Number.isNaN(time(text))) throw new HttpError(422, 'Invalid created filter')
  if (sign === '>=') return date.getTime() >= time(text)
  if (sign === '>') return date.getTime() > endOf(text)
  if (sign === '<=') return date.getTime() <= endOf(text)
  if (sign === '<') return date.getTime() < time(text)
  return date.getTime() >= time(text) && date.getTime() <= endOf(text)
}

/** A date without a time stands for the whole day. */
function endOf(text: string): number {
  return new Date(text).getTime() + (text.length === 10 ? 86_399_999 : 0)
}

export function runOf(request: GitHubRequest): Run {
  const { repository } = request
  return found(repository.runs.find(({ id }) => id === request.number('run_id')))
}

function attemptOf(request: GitHubRequest, run: Run): Attempt {
  return found(run.attempts[request.number('attempt_number') - 1])
}

/** Jobs that wait for other jobs do not exist yet. */
function listJobs(request: GitHubRequest, run: Run, jobs: readonly Job[]) {
  const created = jobs.filter(({ status }) => status !== null)
  return countedList(request, 'jobs', created, (job) => jobObject(request.world, run, job))
}

function jobOf(request: GitHubRequest, parameter: string): { run: Run; job: Job } {
  const id = request.number(parameter)
  for (const run of request.repository.runs) {
    for (const job of run.attempts.flatMap(({ jobs }) => jobs)) if (job.id === id) return { run, job }
  }
  throw new HttpError(404, 'Not Found')
}

/** The answer of our own protection rule. A comment without a state decides nothing. */
function answerOurs(request: GitHubRequest) {
  const run = runOf(request)
  const { environment_name, state = null, comment = null } = request.body as Record<string, string | null>
  const waiting = lastAttempt(run).jobs.find((job) => job.status === 'waiting' && job.environment === environment_name)
  if (waiting?.deployment?.gates.get('ours') !== 'pending') {
    throw new HttpError(422, `No pending custom deployment protection rule for ${environment_name}`)
  }
  answerRule(request.world, waiting.deployment, { state: state as RuleAnswer['state'], comment })
  return { status: 204 }
}
