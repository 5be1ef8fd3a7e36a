import type { Attempt, Conclusion, DeploymentState, Job, Run, RunStatus } from '../types.ts'
import type { World } from '../world.ts'
import { setDeploymentState } from './deployments.ts'

export type NewJob = {
  name: string
  /** Names of jobs that have to succeed first. */
  needs?: string[]
  environment?: string
  environmentUrl?: string
  steps?: string[]
}

export function newJobs(world: World, jobs: readonly NewJob[], attempt: number): Job[] {
  const stages = new Map<string, number>()
  return jobs.map(({ name, needs = [], environment = null, environmentUrl = null, steps }): Job => {
    const stage = Math.max(0, ...needs.map((needed) => (stages.get(needed) ?? 0) + 1))
    stages.set(name, stage)
    const named = { name, attempt, needs, stage, environment, environment_url: environmentUrl }
    const open = { deployment: null, status: null, conclusion: null, begun_at: null, log: null }
    const times = { created_at: world.now(), started_at: null, completed_at: null }
    const shown = (steps ?? ['Prepare', `Run ${name}`, 'Clean up']).map((step) => ({ name: step, conclusion: null }))
    return { ...world.newIds(), ...named, ...open, ...times, steps: shown, annotations: [] }
  })
}

export function lastAttempt(run: Run): Attempt {
  return run.attempts.at(-1) as Attempt
}

export function queueJob(world: World, run: Run, job: Job): void {
  job.status = 'queued'
  emitJob(world, run, job)
}

export function startJob(world: World, run: Run, job: Job): void {
  if (job.status !== 'queued') throw new Error(`Job ${job.name} is ${job.status}, not queued`)
  job.status = 'in_progress'
  job.started_at = world.now()
  if (lastAttempt(run).status !== 'in_progress') setRunStatus(world, run, 'in_progress')
  if (job.deployment !== null) setDeploymentState(world, job.deployment, 'in_progress')
  emitJob(world, run, job)
}

export function endJob(world: World, run: Run, job: Job, conclusion: Conclusion): void {
  job.status = 'completed'
  job.conclusion = conclusion
  job.completed_at = world.now()
  if (job.deployment !== null && conclusion !== 'skipped') setDeploymentState(world, job.deployment, endOf(conclusion))
  emitJob(world, run, job)
}

function endOf(conclusion: Conclusion): DeploymentState {
  if (conclusion === 'success') return 'success'
  return conclusion === 'cancelled' ? 'cancelled' : 'failure'
}

/** Changes the status of the newest attempt. */
export function setRunStatus(world: World, run: Run, status: RunStatus): void {
  const attempt = lastAttempt(run)
  attempt.status = status
  attempt.updated_at = world.now()
  if (status === 'completed') attempt.completed_at = attempt.updated_at
  emitRun(world, run, status === 'completed' ? 'completed' : 'changed')
}

export function emitRun(world: World, run: Run, action: 'created' | 'changed' | 'completed'): void {
  world.emit({ type: 'run', action, repository: run.repository, by: lastAttempt(run).actor, run })
}

export function emitJob(world: World, run: Run, job: Job): void {
  world.emit({ type: 'job', repository: run.repository, by: lastAttempt(run).actor, run, job })
}
