import { lastAttempt } from '../../hosts/stories/jobs.ts'
import type { Job, Run } from '../../hosts/types.ts'
import { ACTIONS_BOT, checkRun } from '../objects/check-run.ts'
import { deploymentObject } from '../objects/deployment.ts'
import { jobObject, workflowObject, workflowRun } from '../objects/run.ts'
import type { GitHubWorld } from '../world.ts'
import type { Of } from './send-events.ts'

/** GitHub does not tell that a run waits, nor that it is queued again. */
export function sendRun(world: GitHubWorld, { repository, run, action: change, by: sender }: Of<'run'>): void {
  const { status } = lastAttempt(run)
  if (change === 'changed' && status !== 'in_progress') return
  const action = change === 'created' ? 'requested' : status
  const fields = {
    workflow_run: workflowRun(world, run),
    workflow: workflowObject(world, repository, run.workflow),
  }
  world.send(repository, { event: 'workflow_run', action, sender, fields })
}

export function sendJob(world: GitHubWorld, { repository, run, job, by: sender }: Of<'job'>): void {
  const deployment = job.deployment === null ? {} : { deployment: deploymentObject(world, job.deployment) }
  const fields = { workflow_job: jobObject(world, run, job), ...deployment }
  world.send(repository, { event: 'workflow_job', action: job.status, sender, fields })
  if (job.status === 'queued') sendCheck(world, run, job, 'created')
  if (job.status === 'completed') sendCheck(world, run, job, 'completed')
}

function sendCheck(world: GitHubWorld, run: Run, job: Job, action: string): void {
  const fields = { check_run: checkRun(world, run, job) }
  world.send(run.repository, { event: 'check_run', action, sender: world.account(ACTIONS_BOT), fields })
}
