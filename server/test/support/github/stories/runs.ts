import { checkRun } from '../objects/check-run.ts'
import { deploymentObject } from '../objects/deployment.ts'
import { jobObject, lastAttempt, workflowObject, workflowRun } from '../objects/run.ts'
import type {
  Account,
  Annotation,
  Attempt,
  Conclusion,
  Job,
  PullRequest,
  Repository,
  Run,
  RunStatus,
  Workflow,
} from '../types.ts'
import type { World } from '../webhooks/world.ts'
import { openDeployment, setDeploymentState } from './deployments.ts'

export type NewJob = {
  name: string
  /** Names of jobs that have to succeed first. */
  needs?: string[]
  environment?: string
  environmentUrl?: string
  steps?: string[]
}

export type NewRun = {
  /** The name of the workflow, or its name and file. */
  workflow?: string | { name: string; path: string }
  branch?: string
  /** The newest commit of the branch by default. */
  sha?: string
  event?: string
  actor?: string
  title?: string
  pullRequest?: PullRequest
  jobs?: NewJob[]
}

export type JobResult = { annotations?: Annotation[]; log?: string; failedStep?: string; actor?: string }

export function createRun(world: World, repository: Repository, fields: NewRun): Run {
  const { state } = world
  const branch = fields.branch ?? fields.pullRequest?.head.ref ?? repository.default_branch
  const sha = fields.sha ?? fields.pullRequest?.head.sha ?? repository.refs.get(`refs/heads/${branch}`)
  if (sha === undefined) throw new Error(`Branch ${branch} has no commit: push first`)
  const workflow = findWorkflow(world, repository, fields.workflow ?? 'CI')
  workflow.runs += 1
  const actor = state.account(fields.actor ?? repository.commits.get(sha)?.account?.login ?? 'ada')
  const run: Run = {
    id: state.newId(),
    check_suite_id: state.newId(),
    repository,
    workflow,
    number: workflow.runs,
    event: fields.event ?? (fields.pullRequest === undefined ? 'push' : 'pull_request'),
    branch,
    sha,
    title: fields.title ?? repository.commits.get(sha)?.message.split('\n')[0] ?? workflow.name,
    actor,
    pullRequests: fields.pullRequest === undefined ? [] : [fields.pullRequest],
    created_at: world.now(),
    attempts: [],
    approvals: [],
  }
  repository.runs.unshift(run)
  beginAttempt(
    world,
    run,
    actor,
    (fields.jobs ?? [{ name: 'build' }]).map((job) => newJob(world, job, 1)),
  )
  return run
}

function findWorkflow(
  { state }: World,
  repository: Repository,
  wanted: string | { name: string; path: string },
): Workflow {
  const name = typeof wanted === 'string' ? wanted : wanted.name
  const slug = name.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  const path = typeof wanted === 'string' ? `.github/workflows/${slug}.yml` : wanted.path
  const known = repository.workflows.get(path)
  if (known !== undefined) return known
  const workflow = { id: state.newId(), name, path, created_at: repository.created_at, runs: 0 }
  repository.workflows.set(path, workflow)
  return workflow
}

function newJob({ state }: World, job: NewJob, attempt: number): Job {
  return {
    id: state.newId(),
    name: job.name,
    attempt,
    needs: job.needs ?? [],
    environment: job.environment ?? null,
    environment_url: job.environmentUrl ?? null,
    deployment: null,
    status: null,
    conclusion: null,
    steps: (job.steps ?? ['Set up job', `Run ${job.name}`, 'Complete job']).map((name) => ({ name, conclusion: null })),
    created_at: state.clock.now(),
    started_at: null,
    completed_at: null,
    annotations: [],
    log: null,
  }
}

function beginAttempt(world: World, run: Run, actor: Account, jobs: Job[]): void {
  const at = world.now()
  const attempt: Attempt = {
    number: run.attempts.length + 1,
    status: 'queued',
    conclusion: null,
    actor,
    started_at: run.attempts.length === 0 ? run.created_at : at,
    updated_at: at,
    jobs,
  }
  run.attempts.push(attempt)
  emitRun(world, run, 'requested')
  continueRun(world, run)
}

/** Runs all jobs again, or those that did not succeed; the others are taken over. */
export function rerun(world: World, run: Run, actor: string, failedOnly: boolean): void {
  const last = lastAttempt(run)
  if (last.status !== 'completed') throw new Error(`Run ${run.id} is not completed`)
  const jobs = last.jobs.map((job): Job => {
    const number = last.number + 1
    if (failedOnly && job.conclusion === 'success') return { ...job, id: world.state.newId(), attempt: number }
    const { environment, environment_url } = job
    const steps = job.steps.map(({ name }) => name)
    const named = { name: job.name, needs: job.needs, steps }
    return { ...newJob(world, named, number), environment, environment_url }
  })
  beginAttempt(world, run, world.state.account(actor), jobs)
}

/** Creates the jobs whose needs are met, skips those whose needs failed, and ends the run after its last job. */
export function continueRun(world: World, run: Run): void {
  const attempt = lastAttempt(run)
  let changed = true
  while (changed) {
    changed = false
    for (const job of attempt.jobs.filter(({ status }) => status === null)) {
      const needed = attempt.jobs.filter(({ name }) => job.needs.includes(name))
      if (needed.some(({ status }) => status !== 'completed')) continue
      changed = true
      job.created_at = world.now()
      if (needed.some(({ conclusion }) => conclusion !== 'success')) endJob(world, run, job, 'skipped')
      else if (job.environment === null) queueJob(world, run, job)
      else openDeployment(world, run, job)
    }
  }
  settleRun(world, run)
}

export function queueJob(world: World, run: Run, job: Job): void {
  job.status = 'queued'
  emitJob(world, run, job, 'queued')
  emitCheck(world, run, job, 'created')
}

function settleRun(world: World, run: Run): void {
  const attempt = lastAttempt(run)
  const states = new Set(attempt.jobs.map(({ status }) => status))
  if (states.size === 1 && states.has('completed')) {
    attempt.conclusion = conclusionOf(attempt.jobs)
    setRunStatus(world, run, 'completed')
  } else if (states.has('waiting') && !states.has('queued') && !states.has('in_progress')) {
    attempt.status = 'waiting'
    attempt.updated_at = world.now()
  }
}

function conclusionOf(jobs: Job[]): Conclusion {
  const ends = new Set(jobs.map(({ conclusion }) => conclusion))
  for (const worst of ['failure', 'timed_out', 'cancelled', 'action_required'] as const)
    if (ends.has(worst)) return worst
  return ends.has('success') ? 'success' : 'skipped'
}

export function startJob(world: World, run: Run, job: Job): void {
  if (job.status !== 'queued') throw new Error(`Job ${job.name} is ${job.status}, not queued`)
  job.status = 'in_progress'
  job.started_at = world.now()
  if (lastAttempt(run).status !== 'in_progress') setRunStatus(world, run, 'in_progress')
  if (job.deployment !== null) setDeploymentState(world, job.deployment, 'in_progress')
  emitJob(world, run, job, 'in_progress')
}

export function finishJob(world: World, run: Run, job: Job, conclusion: Conclusion, result: JobResult = {}): void {
  if (job.status === 'queued') startJob(world, run, job)
  if (job.status !== 'in_progress') throw new Error(`Job ${job.name} is ${job.status}, not in progress`)
  const failed = job.steps.findIndex(({ name }) => name === (result.failedStep ?? `Run ${job.name}`))
  job.steps.forEach((step, index) => {
    if (index === failed || index < failed) step.conclusion = index === failed ? conclusion : 'success'
    else step.conclusion = conclusion === 'success' ? 'success' : 'skipped'
  })
  job.annotations = result.annotations ?? []
  job.log = result.log ?? `${job.name}: ${conclusion}\n`
  endJob(world, run, job, conclusion)
  continueRun(world, run)
}

export function endJob(world: World, run: Run, job: Job, conclusion: Conclusion): void {
  job.status = 'completed'
  job.conclusion = conclusion
  job.completed_at = world.now()
  if (job.deployment !== null && conclusion !== 'skipped') setDeploymentState(world, job.deployment, endOf(conclusion))
  emitJob(world, run, job, 'completed')
  emitCheck(world, run, job, 'completed')
}

function endOf(conclusion: Conclusion): 'success' | 'failure' | 'error' {
  if (conclusion === 'success') return 'success'
  return conclusion === 'cancelled' ? 'error' : 'failure'
}

/** Ends all open jobs, including those that wait for an environment. */
export function cancelRun(world: World, run: Run): void {
  for (const job of lastAttempt(run).jobs.filter(({ status }) => status !== 'completed')) {
    endJob(world, run, job, 'cancelled')
  }
  settleRun(world, run)
}

function setRunStatus(world: World, run: Run, status: RunStatus): void {
  const attempt = lastAttempt(run)
  attempt.status = status
  attempt.updated_at = world.now()
  emitRun(world, run, status)
}

function emitRun(world: World, run: Run, action: string): void {
  const { repository } = run
  world.emit(repository, {
    event: 'workflow_run',
    action,
    sender: lastAttempt(run).actor,
    fields: {
      workflow_run: workflowRun(world, run),
      workflow: workflowObject(world, repository, run.workflow),
    },
  })
}

export function emitJob(world: World, run: Run, job: Job, action: string): void {
  const sender = lastAttempt(run).actor
  const deployment = job.deployment === null ? {} : { deployment: deploymentObject(world, job.deployment) }
  const fields = { workflow_job: jobObject(world, run, job), ...deployment }
  world.emit(run.repository, { event: 'workflow_job', action, sender, fields })
}

function emitCheck(world: World, run: Run, job: Job, action: string): void {
  const sender = world.state.account('github-actions[bot]')
  world.emit(run.repository, { event: 'check_run', action, sender, fields: { check_run: checkRun(world, run, job) } })
}
