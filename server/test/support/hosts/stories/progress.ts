import type { Annotation, Conclusion, Job, Run } from '../types.ts'
import type { World } from '../world.ts'
import { openDeployment } from './deployments.ts'
import { endJob, lastAttempt, queueJob, setRunStatus, startJob } from './jobs.ts'

export type JobResult = {
  annotations?: Annotation[]
  log?: string
  /** The step that fails; `Run <job>` by default. */
  failedStep?: string
}

/**
 * Queues the jobs whose needs are met, skips those whose needs failed, and ends the run after its
 * last job.
 */
export function continueRun(world: World, run: Run): void {
  const attempt = lastAttempt(run)
  for (let changed = true; changed; ) {
    changed = false
    for (const job of attempt.jobs.filter(({ status }) => status === null)) {
      const needed = attempt.jobs.filter(({ name }) => job.needs.includes(name))
      if (needed.some(({ status }) => status !== 'completed')) continue
      changed = true
      beginJob(world, run, job, needed)
    }
  }
  settleRun(world, run)
}

function beginJob(world: World, run: Run, job: Job, needed: Job[]): void {
  job.begun_at = world.now()
  if (needed.some(({ conclusion }) => conclusion !== 'success')) endJob(world, run, job, 'skipped')
  else if (job.environment === null) queueJob(world, run, job)
  else openDeployment(world, run, job)
}

function settleRun(world: World, run: Run): void {
  const attempt = lastAttempt(run)
  const states = new Set(attempt.jobs.map(({ status }) => status))
  if (states.size === 1 && states.has('completed')) {
    attempt.conclusion = conclusionOf(attempt.jobs)
    setRunStatus(world, run, 'completed')
  } else if (states.has('waiting') && !states.has('queued') && !states.has('in_progress')) {
    if (attempt.status !== 'waiting') setRunStatus(world, run, 'waiting')
  }
}

function conclusionOf(jobs: Job[]): Conclusion {
  const ends = new Set(jobs.map(({ conclusion }) => conclusion))
  const worst = (['failure', 'timed_out', 'cancelled', 'action_required'] as const).find((one) => ends.has(one))
  return worst ?? (ends.has('success') ? 'success' : 'skipped')
}

export function finishJob(world: World, run: Run, job: Job, conclusion: Conclusion, result: JobResult = {}): void {
  if (job.status === 'queued') startJob(world, run, job)
  if (job.status !== 'in_progress') throw new Error(`Job ${job.name} is ${job.status}, not in progress`)
  endSteps(job, conclusion, result.failedStep ?? `Run ${job.name}`)
  job.annotations = result.annotations ?? []
  job.log = result.log ?? `${job.name}: ${conclusion}\n`
  endJob(world, run, job, conclusion)
  continueRun(world, run)
}

/** The steps before the one that decides succeed. Those after it are skipped if it fails. */
function endSteps(job: Job, conclusion: Conclusion, deciding: string): void {
  const decided = job.steps.findIndex(({ name }) => name === deciding)
  for (const [index, step] of job.steps.entries()) {
    if (conclusion === 'success' || index < decided) step.conclusion = 'success'
    else step.conclusion = index === decided ? conclusion : 'skipped'
  }
}

/** Ends all open jobs, including those that wait for an environment. */
export function cancelRun(world: World, run: Run): void {
  for (const job of lastAttempt(run).jobs.filter(({ status }) => status !== 'completed'))
    endJob(world, run, job, 'cancelled')
  settleRun(world, run)
}
