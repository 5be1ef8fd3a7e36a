import { checkRun } from '../objects/check-run.ts'
import { deploymentObject } from '../objects/deployment.ts'
import { jobObject, lastAttempt, workflowObject, workflowRun } from '../objects/run.ts'
import type { Conclusion, Job, Run, RunStatus } from '../types.ts'
import type { World } from '../webhooks/world.ts'
import { setDeploymentState } from './deployments.ts'

export type NewJob = {
  name: string
  /** Names of jobs that have to succeed first. */
  needs?: string[]
  environment?: string
  environmentUrl?: string
  steps?: string[]
}

export function newJob({ state }: World, job: NewJob, attempt: number): Job {
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

export function queueJob(world: World, run: Run, job: Job): void {
  job.status = 'queued'
  emitJob(world, run, job, 'queued')
  emitCheck(world, run, job, 'created')
}

export function startJob(world: World, run: Run, job: Job): void {
  if (job.status !== 'queued') throw new Error(`Job ${job.name} is ${job.status}, not queued`)
  job.status = 'in_progress'
  job.started_at = world.now()
  if (lastAttempt(run).status !== 'in_progress') setRunStatus(world, run, 'in_progress')
  if (job.deployment !== null) setDeploymentState(world, job.deployment, 'in_progress')
  emitJob(world, run, job, 'in_progress')
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

/** Changes the status of the newest attempt. */
export function setRunStatus(world: World, run: Run, status: RunStatus): void {
  const attempt = lastAttempt(run)
  attempt.status = status
  attempt.updated_at = world.now()
  emitRun(world, run, status)
}

export function emitRun(world: World, run: Run, action: string): void {
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
