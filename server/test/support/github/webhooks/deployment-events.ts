import type { AnyDeployment, Deployment, Environment, Run, RunApproval } from '../../hosts/types.ts'
import { simpleUser } from '../objects/accounts.ts'
import { checkRun } from '../objects/check-run.ts'
import { creatorOf, deploymentObject, deploymentStatus, reviewerObject } from '../objects/deployment.ts'
import { wholePullRequest } from '../objects/pull-request.ts'
import { eventOf, workflowObject, workflowRun } from '../objects/run.ts'
import { apiUrl, pageUrl } from '../objects/urls.ts'
import type { GitHubWorld } from '../world.ts'
import type { Of } from './send-events.ts'

export function sendDeployment(world: GitHubWorld, change: Of<'deployment_created'>): void {
  const { repository, deployment, by: sender } = change
  const fields = { deployment: deploymentObject(world, deployment), ...runOf(world, deployment) }
  world.send(repository, { event: 'deployment', action: 'created', sender, fields })
}

export function sendDeploymentStatus(world: GitHubWorld, change: Of<'deployment'>): void {
  const { repository, deployment, status } = change
  const { run, job } = deployment
  const fields = {
    deployment_status: deploymentStatus(world, deployment, status),
    deployment: deploymentObject(world, deployment),
    check_run: run === null ? null : checkRun(world, run, job),
    ...runOf(world, deployment),
  }
  const sender = creatorOf(world, deployment, status)
  world.send(repository, { event: 'deployment_status', action: 'created', sender, fields })
}

function runOf(world: GitHubWorld, { run, repository }: AnyDeployment) {
  if (run === null) return { workflow: null, workflow_run: null }
  return { workflow: workflowObject(world, repository, run.workflow), workflow_run: shortRun(world, run) }
}

/** The run in events about deployments, which have neither its commit nor earlier attempts. */
function shortRun(world: GitHubWorld, run: Run) {
  return { ...workflowRun(world, run), head_commit: null, previous_attempt_url: null }
}

/** Rules of other Apps get deliveries of their own, and timers none. */
export function sendGate(world: GitHubWorld, { deployment, gate }: Of<'gate'>): void {
  if (gate === 'ours') askOurs(world, deployment)
  if (gate === 'reviewers') askReviewers(world, deployment)
}

function askOurs(world: GitHubWorld, deployment: Deployment): void {
  const { run, repository, environment, creator: sender } = deployment
  const fields = {
    environment: environment.name,
    event: eventOf(run),
    sha: run.sha,
    ref: `refs/heads/${run.branch}`,
    deployment_callback_url: `${apiUrl(world, repository)}/actions/runs/${run.id}/deployment_protection_rule`,
    deployment: deploymentObject(world, deployment),
    pull_requests: run.pullRequest === null ? [] : [wholePullRequest(world, repository, run.pullRequest)],
  }
  world.send(repository, { event: 'deployment_protection_rule', action: 'requested', sender, fields })
}

function askReviewers(world: GitHubWorld, deployment: Deployment): void {
  const { environment, creator: sender } = deployment
  const fields = {
    environment: environment.name,
    requestor: simpleUser(world, sender),
    reviewers: environment.reviewers.map((reviewer) => eventReviewer(world, reviewer)),
    workflow_job_run: jobRun(world, deployment),
  }
  sendReview(world, deployment.run, { action: 'requested', sender, fields })
}

/** Webhooks leave out the `type` of a team. */
function eventReviewer(world: GitHubWorld, reviewer: Environment['reviewers'][number]) {
  const object = reviewerObject(world, reviewer)
  return reviewer.type === 'person' ? object : { ...object, reviewer: { ...object.reviewer, type: undefined } }
}

/** One of the reviewers has answered. */
export function sendApproval(world: GitHubWorld, { run, approval }: Of<'approval'>): void {
  const { deployment, state, user, comment }: RunApproval = approval
  const approver = simpleUser(world, user)
  const reviewers = [{ type: 'User', reviewer: approver }]
  const fields = { approver, comment, reviewers, workflow_job_runs: [jobRun(world, deployment)] }
  sendReview(world, run, { action: state, sender: user, fields })
}

/** The job that waits for reviewers. */
function jobRun(world: GitHubWorld, { repository, run, job, environment, created_at }: Deployment) {
  const html_url = `${pageUrl(world, repository)}/actions/runs/${run.id}/job/${job.id}`
  const times = { created_at, updated_at: created_at }
  return {
    id: job.id,
    name: null,
    environment: environment.name,
    html_url,
    status: 'waiting',
    conclusion: null,
    ...times,
  }
}

type Review = { action: string; sender: RunApproval['user']; fields: object }

function sendReview(world: GitHubWorld, run: Run, { action, sender, fields }: Review): void {
  const common = { workflow_run: shortRun(world, run), since: '5 seconds ago' }
  world.send(run.repository, { event: 'deployment_review', action, sender, fields: { ...common, ...fields } })
}
