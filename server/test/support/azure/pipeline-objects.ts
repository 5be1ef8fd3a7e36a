import { lastAttempt } from '../hosts/stories/jobs.ts'
import type { Attempt, Conclusion, Deployment, Job, Run } from '../hosts/types.ts'
import { identity, project, repository } from './objects.ts'
import { type AzureState, guidOf, type ProjectEnvironment } from './state.ts'

const REASONS = {
  push: 'individualCI',
  pull_request: 'pullRequest',
  merge_group: 'individualCI',
  schedule: 'schedule',
  manual: 'manual',
  release: 'manual',
  workflow: 'resourceTrigger',
} as const

const RESULTS: Record<Conclusion, string> = {
  success: 'succeeded',
  failure: 'failed',
  cancelled: 'canceled',
  timed_out: 'canceled',
  skipped: 'skipped',
  neutral: 'succeeded',
  action_required: 'failed',
}

function buildResult(conclusion: Conclusion): string {
  return conclusion === 'skipped' ? 'canceled' : RESULTS[conclusion]
}

export function webUrlOf(state: AzureState, { repository: { project: its }, id }: Run): string {
  return `${state.webUrl(its)}/_build/results?buildId=${id}`
}

export function build(state: AzureState, run: Run) {
  const { repository: of, workflow, pullRequest } = run
  const attempt = lastAttempt(run)
  const isOver = attempt.status === 'completed'
  const started = run.attempts[0]?.jobs.some(({ started_at: at }) => at !== null)
  const isPull = pullRequest !== null
  return {
    _links: { web: { href: webUrlOf(state, run) } },
    id: run.id,
    buildNumber: `20260301.${run.number}`,
    status: isOver ? 'completed' : attempt.status === 'queued' ? 'notStarted' : 'inProgress',
    ...(isOver ? { result: buildResult(attempt.conclusion ?? 'failure') } : {}),
    queueTime: run.created_at.toISOString(),
    ...(started || isOver ? { startTime: (run.attempts[0] as Attempt).started_at.toISOString() } : {}),
    ...(attempt.completed_at === null ? {} : { finishTime: attempt.completed_at.toISOString() }),
    url: `${state.url}/${of.owner.login}/${of.project.uuid}/_apis/build/Builds/${run.id}`,
    definition: {
      id: workflow.id,
      name: workflow.name,
      path: '\\',
      type: 'build',
      project: project(state, of.project),
    },
    project: project(state, of.project),
    sourceBranch: isPull ? `refs/pull/${pullRequest.number}/merge` : `refs/heads/${run.branch}`,
    sourceVersion: run.sha,
    reason: REASONS[run.event],
    requestedFor: identity(state, run.actor),
    requestedBy: identity(state, run.actor),
    lastChangedDate: attempt.updated_at.toISOString(),
    ...(isPull ? { parameters: JSON.stringify(pullParameters(run)) } : {}),
    triggerInfo: isPull
      ? { 'pr.number': String(pullRequest.number) }
      : { 'ci.message': run.title, 'ci.sourceSha': run.sha },
    repository: { id: of.uuid, type: 'TfsGit', name: of.name, url: repository(state, of).webUrl },
  }
}

function pullParameters({ pullRequest, branch, sha }: Run) {
  return {
    'system.pullRequest.pullRequestId': String(pullRequest?.number),
    'system.pullRequest.sourceBranch': `refs/heads/${branch}`,
    'system.pullRequest.sourceCommitId': sha,
  }
}

export function timelineId(run: Run, attempt: number): string {
  return guidOf(run.uuid, 'timeline', attempt)
}

/** Each job is a stage with one job, so that it can be repeated alone. */
export function timeline(run: Run, number: number) {
  const attempt = run.attempts.find((one) => one.number === number) as Attempt
  return {
    id: timelineId(run, number),
    changeId: 7,
    lastChangedOn: attempt.updated_at.toISOString(),
    records: attempt.jobs.flatMap((job, order) => stageRecords(run, job, order + 1)),
  }
}

export function checkpointId(run: Run, { name, attempt }: Job): string {
  return guidOf(run.uuid, name, attempt, 'checkpoint')
}

export function checkRunId(run: Run, job: Job, kind: string): string {
  return guidOf(checkpointId(run, job), kind)
}

function stageRecords(run: Run, job: Job, order: number) {
  const stage = guidOf(job.name, 'stage')
  const phase = guidOf(job.name, 'phase')
  const jobId = guidOf(job.name, 'job')
  const state = stateOf(job)
  const at = { startTime: (job.started_at ?? job.created_at).toISOString() }
  const times = state.state === 'pending' ? {} : { ...at, ...finish(job) }
  const about = { ...state, attempt: job.attempt, order }
  const own = { ...about, ...times }
  // What checks held has not started.
  const work = { ...about, ...(job.started_at === null ? {} : times) }
  const previous = run.attempts
    .filter(
      (one) =>
        one.number < job.attempt &&
        one.jobs.some((before) => before.name === job.name && before.attempt === one.number),
    )
    .map(({ number }) => ({ attempt: number, timelineId: timelineId(run, number), recordId: stage }))
  return [
    { id: stage, type: 'Stage', name: job.name, identifier: job.name, ...own, previousAttempts: previous },
    ...checkpointRecords(run, job, stage),
    { id: phase, parentId: stage, type: 'Phase', name: job.name, identifier: `${job.name}.${job.name}`, ...work },
    {
      id: jobId,
      parentId: phase,
      type: 'Job',
      name: job.name,
      identifier: `${job.name}.${job.name}.__default`,
      ...work,
      workerName: 'Hosted Agent',
      ...(job.log === null ? {} : { log: { id: job.id, type: 'Container', url: '' } }),
      issues: issuesOf(job),
    },
    ...job.steps.map(({ name, conclusion }, index) => ({
      id: guidOf(job.name, 'task', index),
      parentId: jobId,
      type: 'Task',
      name,
      order: index + 1,
      attempt: job.attempt,
      state: conclusion === null ? 'pending' : 'completed',
      ...(conclusion === null ? {} : { result: RESULTS[conclusion] }),
    })),
  ]
}

function stateOf({ status, conclusion }: Job) {
  if (status === 'completed') return { state: 'completed', result: RESULTS[conclusion as Conclusion] }
  return { state: status === 'in_progress' ? 'inProgress' : 'pending' }
}

function finish({ completed_at: at }: Job) {
  return at === null ? {} : { finishTime: at.toISOString() }
}

/** Azure Pipelines has errors and warnings only. */
function issuesOf({ annotations, conclusion }: Job) {
  const known = annotations.filter(({ level }) => level !== 'notice')
  const issues = known.map(({ level, message, path, line }) => ({
    type: level === 'failure' ? 'error' : 'warning',
    category: 'General',
    message,
    data: { ...(path ? { sourcepath: path } : {}), ...(line ? { linenumber: String(line) } : {}) },
  }))
  const message = 'The job running on agent Hosted Agent ran longer than the maximum time of 60 minutes.'
  return conclusion === 'timed_out' ? [...issues, { type: 'error', category: 'General', message, data: {} }] : issues
}

function checkpointRecords(run: Run, job: Job, stage: string) {
  const { deployment } = job
  if (deployment === null || deployment.gates.size === 0) return []
  const isOpen = [...deployment.gates.values()].includes('pending') && job.status === 'waiting'
  const at = { startTime: deployment.created_at.toISOString(), attempt: job.attempt }
  const state = isOpen ? { state: 'inProgress' } : { state: 'completed', result: 'succeeded' }
  const id = checkpointId(run, job)
  const kinds = [...deployment.gates.keys()]
  return [
    { id, parentId: stage, type: 'Checkpoint', name: 'Checkpoint', ...at, ...state },
    ...kinds.map((kind) => ({
      id: checkRunId(run, job, kind),
      parentId: id,
      type: kind === 'ours' ? 'Checkpoint.TaskCheck' : 'Checkpoint.Approval',
      name: 'Check',
      ...at,
      ...state,
    })),
  ]
}

/** The checks of one attempt of a stage. */
export function checkSuite(environments: ProjectEnvironment[], run: Run, job: Job) {
  const { gates, environment } = job.deployment as Deployment
  const resource = environments.find(({ of }) => of.some((one) => one.environment === environment))
  const status = [...gates.values()].includes('pending') ? 'running' : 'approved'
  return {
    id: checkpointId(run, job),
    status,
    context: {},
    checkRuns: [...gates].map(([kind, state]) => ({
      id: checkRunId(run, job, kind),
      status: state === 'pending' ? 'running' : state,
      checkConfigurationRef: {
        id: environment.id,
        type: { id: guidOf(kind), name: kind === 'ours' ? 'Task Check' : 'Approval' },
        resource: { type: 'environment', id: String(resource?.id), name: environment.name },
      },
    })),
  }
}

/** What a job deployed. There is no record while checks hold it. */
export function deploymentRecord(state: AzureState, one: Deployment, environmentId: number) {
  const { run, job } = one
  const queued = one.statuses.find((status) => status.state === 'queued')
  if (queued === undefined) return null
  return {
    id: one.id,
    environmentId,
    serviceOwner: guidOf('service'),
    scopeId: one.repository.project.uuid,
    planType: 'Build',
    planId: guidOf(run.uuid, 'plan'),
    requestIdentifier: `${job.name}.${job.name}.${one.attempt}`,
    stageName: job.name,
    jobName: job.name,
    stageAttempt: one.attempt,
    jobAttempt: one.attempt,
    definition: { id: run.workflow.id, name: run.workflow.name, _links: {} },
    owner: { id: run.id, name: `20260301.${run.number}`, _links: { web: { href: webUrlOf(state, run) } } },
    queueTime: queued.created_at.toISOString(),
    ...(job.started_at === null ? {} : { startTime: job.started_at.toISOString() }),
    ...(job.completed_at === null
      ? {}
      : { finishTime: job.completed_at.toISOString(), result: RESULTS[job.conclusion as Conclusion] }),
  }
}
