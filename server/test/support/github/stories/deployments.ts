import { checkRun } from '../objects/check-run.ts'
import { deploymentObject, deploymentStatus } from '../objects/deployment.ts'
import { lastAttempt, workflowObject, workflowRun } from '../objects/run.ts'
import { pageUrl } from '../objects/urls.ts'
import type { Account, Deployment, DeploymentState, Environment, Job, Repository, Run } from '../types.ts'
import type { World } from '../webhooks/world.ts'
import { environmentOf } from './environments.ts'

/** The deployment of a job, which waits for the rules of its environment. */
export function createDeployment(world: World, run: Run, job: Job, environment: Environment): Deployment {
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
  fields: { environment: string; sha: string; ref: string; creator: Account },
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

/** The run in events about deployments, which have neither its commit nor earlier attempts. */
export function shortRun(world: World, run: Run) {
  return { ...workflowRun(world, run), head_commit: null, previous_attempt_url: null }
}

/** The job that waits for reviewers, as events about reviews name it. */
export function jobRun(world: World, { run, job, environment, created_at }: Deployment) {
  const { repository, id } = run as Run
  const html_url = `${pageUrl(world, repository)}/actions/runs/${id}/job/${job?.id}`
  const times = { created_at, updated_at: created_at }
  return { id: job?.id, name: null, environment, html_url, status: 'waiting', conclusion: null, ...times }
}

/** Reviewers were asked (`requested`), or one of them has answered. */
export function emitReview(world: World, run: Run, review: { action: string; sender: Account; fields: object }): void {
  const { action, sender, fields } = review
  const common = { workflow_run: shortRun(world, run), since: '5 seconds ago' }
  world.emit(run.repository, { event: 'deployment_review', action, sender, fields: { ...common, ...fields } })
}
