import { simpleUser } from '../objects/accounts.ts'
import { lastAttempt } from '../objects/run.ts'
import type { Account, Deployment, Job, Run } from '../types.ts'
import type { World } from '../webhooks/world.ts'
import { emitReview, jobRun, setDeploymentState } from './deployments.ts'
import { endJob, queueJob } from './jobs.ts'
import { continueRun } from './progress.ts'

/** A reviewer answers for one environment of a run. */
export function review(
  world: World,
  deployment: Deployment,
  answer: { state: 'approved' | 'rejected'; user: Account; comment: string },
): void {
  const { state, user, comment } = answer
  const run = deployment.run as Run
  run.approvals.unshift({ environment: deployment.environment, state, user, comment })
  const waited = jobRun(world, deployment)
  decideGate(world, deployment, 'required_reviewers', state)
  const approver = simpleUser(world, user)
  const reviewers = [{ type: 'User', reviewer: approver }]
  const fields = { approver, comment, reviewers, workflow_job_runs: [waited] }
  emitReview(world, run, { action: state, sender: user, fields })
}

/** One rule has decided: a rejection ends the job, the last approval lets it go on. */
export function decideGate(world: World, deployment: Deployment, gate: string, state: 'approved' | 'rejected'): void {
  if (deployment.gates.get(gate) !== 'pending') throw new Error(`The deployment does not wait for ${gate}`)
  deployment.gates.set(gate, state)
  const run = deployment.run as Run
  const job = deployment.job as Job
  if (state === 'rejected') {
    endJob(world, run, job, 'failure')
    continueRun(world, run)
  } else if ([...deployment.gates.values()].every((value) => value === 'approved')) {
    goOn(world, deployment)
  }
}

/** An administrator starts a job without the approvals that it waits for. */
export function bypass(world: World, deployment: Deployment, user: Account, comment: string): void {
  const run = deployment.run as Run
  run.approvals.unshift({ environment: deployment.environment, state: 'approved', user, comment })
  deployment.gates.clear()
  goOn(world, deployment)
}

function goOn(world: World, deployment: Deployment): void {
  const run = deployment.run as Run
  queueJob(world, run, deployment.job as Job)
  setDeploymentState(world, deployment, 'queued')
  const attempt = lastAttempt(run)
  if (attempt.status !== 'waiting') return
  attempt.status = 'queued'
  attempt.updated_at = world.now()
}

/** The newest deployment of a run to an environment that still waits. */
export function waitingDeployment(run: Run, environment: string): Deployment | undefined {
  const jobs = lastAttempt(run).jobs.filter(({ status }) => status === 'waiting')
  return jobs.find((job) => job.environment?.toLowerCase() === environment.toLowerCase())?.deployment ?? undefined
}
