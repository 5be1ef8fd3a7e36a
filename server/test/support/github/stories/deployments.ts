import { simpleUser } from '../objects/accounts.ts'
import { checkRun } from '../objects/check-run.ts'
import { deploymentObject, deploymentStatus, reviewerObject } from '../objects/deployment.ts'
import { lastAttempt, workflowObject, workflowRun } from '../objects/run.ts'
import { apiUrl, pageUrl } from '../objects/urls.ts'
import type { Account, Deployment, DeploymentState, Environment, Job, Repository, Reviewer, Run } from '../types.ts'
import type { World } from '../webhooks/world.ts'
import { continueRun, emitJob, endJob, queueJob } from './runs.ts'

/** An environment by its name; GitHub creates one without rules when a job names it. */
export function environmentOf(world: World, repository: Repository, name: string): Environment {
  const known = repository.environments.get(name)
  if (known !== undefined) return known
  const environment: Environment = {
    id: world.state.newId(),
    name,
    created_at: world.now(),
    reviewers: [],
    waitTimer: 0,
    branches: null,
    customRules: [],
  }
  repository.environments.set(name, environment)
  return environment
}

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

function createDeployment(world: World, run: Run, job: Job, environment: Environment): Deployment {
  const at = world.now()
  const gates = [
    ...(environment.waitTimer === 0 ? [] : ['wait_timer']),
    ...(environment.reviewers.length === 0 ? [] : ['required_reviewers']),
    ...environment.customRules.map(({ app }) => app.slug),
  ]
  const deployment: Deployment = {
    id: world.state.newId(),
    repository: run.repository,
    run,
    job,
    attempt: job.attempt,
    environment: environment.name,
    sha: run.sha,
    ref: run.branch ?? run.sha,
    creator: lastAttempt(run).actor,
    description: null,
    created_at: at,
    updated_at: at,
    statuses: [],
    gates: new Map(gates.map((gate) => [gate, 'pending'])),
  }
  job.deployment = deployment
  run.repository.deployments.unshift(deployment)
  emitDeployment(world, deployment)
  return deployment
}

/** A deployment that was made by the API, without a run. */
export function createForeignDeployment(
  world: World,
  repository: Repository,
  fields: {
    environment: string
    sha: string
    ref: string
    creator: Account
  },
): Deployment {
  const at = world.now()
  environmentOf(world, repository, fields.environment)
  const deployment: Deployment = {
    id: world.state.newId(),
    repository,
    run: null,
    job: null,
    attempt: null,
    description: null,
    created_at: at,
    updated_at: at,
    statuses: [],
    gates: new Map(),
    ...fields,
  }
  repository.deployments.unshift(deployment)
  emitDeployment(world, deployment)
  return deployment
}

function emitDeployment(world: World, deployment: Deployment): void {
  const fields = { deployment: deploymentObject(world, deployment), ...runOf(world, deployment) }
  const { repository, creator: sender } = deployment
  world.emit(repository, { event: 'deployment', action: 'created', sender, fields })
}

function runOf(world: World, { run, repository }: Deployment) {
  if (run === null) return { workflow: null, workflow_run: null }
  return { workflow: workflowObject(world, repository, run.workflow), workflow_run: shortRun(world, run) }
}

/** The run in events about deployments, which have neither its commit nor earlier attempts. */
function shortRun(world: World, run: Run) {
  return { ...workflowRun(world, run), head_commit: null, previous_attempt_url: null }
}

export function setDeploymentState(world: World, deployment: Deployment, state: DeploymentState): void {
  const { repository, run, job } = deployment
  if (state === 'success') retireOlder(world, deployment)
  const log_url = run === null ? '' : `${pageUrl(world, repository)}/actions/runs/${run.id}/job/${job?.id}`
  const creator = run === null ? deployment.creator : world.state.account('github-actions[bot]')
  const environment_url = job?.environment_url ?? ''
  const status = { id: world.state.newId(), state, creator, created_at: world.now(), environment_url, log_url }
  deployment.statuses.push(status)
  deployment.updated_at = world.now()
  const fields = {
    deployment_status: deploymentStatus(world, deployment, status),
    deployment: deploymentObject(world, deployment),
    ...(run === null || job === null ? { check_run: null } : { check_run: checkRun(world, run, job) }),
    ...runOf(world, deployment),
  }
  world.emit(repository, { event: 'deployment_status', action: 'created', sender: creator, fields })
}

/** A success makes the earlier successes of the environment inactive. */
function retireOlder(world: World, newer: Deployment): void {
  for (const deployment of newer.repository.deployments) {
    const isOlder = deployment !== newer && deployment.environment === newer.environment
    if (isOlder && deployment.statuses.at(-1)?.state === 'success') setDeploymentState(world, deployment, 'inactive')
  }
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
    pull_requests: [],
  }
  const sender = deployment.creator
  world.emit(run.repository, { event: 'deployment_protection_rule', action: 'requested', sender, fields })
}

function askReviewers(world: World, deployment: Deployment, environment: Environment): void {
  if (environment.reviewers.length === 0) return
  emitReview(world, deployment, 'requested', {
    environment: environment.name,
    requestor: simpleUser(world, deployment.creator),
    reviewers: environment.reviewers.map((reviewer) => eventReviewer(world, reviewer)),
    workflow_job_run: jobRun(world, deployment),
  })
}

/** Webhooks leave out the `type` of a team. */
function eventReviewer(world: World, reviewer: Reviewer) {
  const object = reviewerObject(world, reviewer)
  return reviewer.type === 'User' ? object : { ...object, reviewer: { ...object.reviewer, type: undefined } }
}

function jobRun(world: World, { run, job, environment, created_at }: Deployment) {
  const { repository, id } = run as Run
  const html_url = `${pageUrl(world, repository)}/actions/runs/${id}/job/${job?.id}`
  const times = { created_at, updated_at: created_at }
  return { id: job?.id, name: null, environment, html_url, status: 'waiting', conclusion: null, ...times }
}

function emitReview(world: World, deployment: Deployment, action: string, fields: object): void {
  const run = deployment.run as Run
  const common = { workflow_run: shortRun(world, run), since: '5 seconds ago' }
  const sender = deployment.creator
  world.emit(run.repository, { event: 'deployment_review', action, sender, fields: { ...common, ...fields } })
}

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
  emitReview(world, deployment, state, {
    approver: simpleUser(world, user),
    comment,
    reviewers: [{ type: 'User', reviewer: simpleUser(world, user) }],
    workflow_job_runs: [waited],
  })
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
  setDeploymentState(world, deployment, 'queued')
  queueJob(world, run, deployment.job as Job)
  const attempt = lastAttempt(run)
  if (attempt.status === 'waiting') attempt.status = 'queued'
}

/** The newest deployment of a run to an environment that still waits. */
export function waitingDeployment(run: Run, environment: string): Deployment | undefined {
  const jobs = lastAttempt(run).jobs.filter(({ status }) => status === 'waiting')
  return jobs.find((job) => job.environment?.toLowerCase() === environment.toLowerCase())?.deployment ?? undefined
}
