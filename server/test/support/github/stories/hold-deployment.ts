import { simpleUser } from '../objects/accounts.ts'
import { deploymentObject, reviewerObject } from '../objects/deployment.ts'
import { wholePullRequest } from '../objects/pull-request.ts'
import { apiUrl } from '../objects/urls.ts'
import type { Deployment, Environment, Job, Reviewer, Run } from '../types.ts'
import type { World } from '../webhooks/world.ts'
import { createDeployment, emitReview, environmentOf, jobRun, setDeploymentState } from './deployments.ts'
import { emitJob, endJob, queueJob } from './jobs.ts'

/** A job is about to deploy to its environment: its rules hold it or let it go on. */
export function openDeployment(world: World, run: Run, job: Job): void {
  const environment = environmentOf(world, run.repository, job.environment as string)
  if (environment.branches !== null && !environment.branches.includes(run.branch ?? '')) {
    const message = `Branch "${run.branch}" is not allowed to deploy to ${environment.name} due to environment protection rules.`
    job.annotations = [{ level: 'failure', message }]
    endJob(world, run, job, 'failure')
    return
  }
  const deployment = createDeployment(world, run, job, environment)
  if (deployment.gates.size === 0) {
    job.status = 'queued'
    setDeploymentState(world, deployment, 'queued')
    queueJob(world, run, job)
    return
  }
  job.status = 'waiting'
  setDeploymentState(world, deployment, 'waiting')
  emitJob(world, run, job, 'waiting')
  askRules(world, deployment, environment)
  askReviewers(world, deployment, environment)
}

/** Asks our own protection rule. Rules of other Apps get their own deliveries. */
function askRules(world: World, deployment: Deployment, environment: Environment): void {
  const run = deployment.run as Run
  if (!environment.customRules.some(({ app }) => app.ours)) return
  const fields = {
    environment: environment.name,
    event: run.event,
    sha: run.sha,
    ref: `refs/heads/${run.branch}`,
    deployment_callback_url: `${apiUrl(world, run.repository)}/actions/runs/${run.id}/deployment_protection_rule`,
    deployment: deploymentObject(world, deployment),
    pull_requests: run.pullRequests.map((pullRequest) => wholePullRequest(world, run.repository, pullRequest)),
  }
  const sender = deployment.creator
  world.emit(run.repository, { event: 'deployment_protection_rule', action: 'requested', sender, fields })
}

function askReviewers(world: World, deployment: Deployment, environment: Environment): void {
  if (environment.reviewers.length === 0) return
  const sender = deployment.creator
  const fields = {
    environment: environment.name,
    requestor: simpleUser(world, sender),
    reviewers: environment.reviewers.map((reviewer) => eventReviewer(world, reviewer)),
    workflow_job_run: jobRun(world, deployment),
  }
  emitReview(world, deployment.run as Run, { action: 'requested', sender, fields })
}

/** Webhooks leave out the `type` of a team. */
function eventReviewer(world: World, reviewer: Reviewer) {
  const object = reviewerObject(world, reviewer)
  return reviewer.type === 'User' ? object : { ...object, reviewer: { ...object.reviewer, type: undefined } }
}
