import type {
  AnyDeployment,
  Deployment,
  DeploymentState,
  Environment,
  EnvironmentRules,
  GateKind,
  Job,
  Repository,
  Run,
} from '../types.ts'
import type { World } from '../world.ts'
import { emitJob, endJob, queueJob } from './jobs.ts'

/** An environment by its name, without rules if it is new. */
export function environmentOf(world: World, repository: Repository, name: string): Environment {
  const known = repository.environments.get(name)
  if (known !== undefined) return known
  const rules = { reviewers: [], ours: false, branches: null, apps: [], waitMinutes: 0 }
  const made = { name, created_at: world.now(), ...rules }
  const environment: Environment = { ...world.newIds(), ...made }
  repository.environments.set(name, environment)
  return environment
}

/** Replaces all rules of an environment. */
export function setEnvironmentRules(world: World, environment: Environment, rules: EnvironmentRules): void {
  environment.ours = rules.ours ?? false
  environment.branches = rules.branches ?? null
  environment.reviewers = (rules.reviewers ?? []).map((reviewer) => {
    if (!reviewer.startsWith('@')) return { type: 'person', account: world.account(reviewer) }
    return { type: 'team', name: reviewer.slice(1), ...world.newIds() }
  })
  environment.apps = (rules.apps ?? []).map((slug) => ({ slug, ...world.newIds() }))
  environment.waitMinutes = rules.waitMinutes ?? 0
}

/** A job is about to deploy to its environment: its rules hold it or let it go on. */
export function openDeployment(world: World, run: Run, job: Job): void {
  const environment = environmentOf(world, run.repository, job.environment as string)
  if (environment.branches !== null && !environment.branches.includes(run.branch)) {
    const message = `Branch "${run.branch}" is not allowed to deploy to ${environment.name} due to environment protection rules.`
    job.annotations = [{ level: 'failure', message }]
    job.log = `${message}\n`
    endJob(world, run, job, 'failure')
    return
  }
  const deployment = deploymentOf(world, run, job, environment)
  if (deployment.gates.size === 0) {
    queueJob(world, run, job)
    setDeploymentState(world, deployment, 'queued')
    return
  }
  job.status = 'waiting'
  setDeploymentState(world, deployment, 'waiting')
  emitJob(world, run, job)
  const { repository, creator: by } = deployment
  for (const gate of deployment.gates.keys()) world.emit({ type: 'gate', repository, by, deployment, gate })
}

function deploymentOf(world: World, run: Run, job: Job, environment: Environment): Deployment {
  const { repository, sha, branch: ref } = run
  const creator = run.attempts.at(-1)?.actor ?? run.actor
  const gates: Deployment['gates'] = new Map(gatesOf(environment).map((gate) => [gate, 'pending']))
  const made = { run, job, attempt: job.attempt, environment, sha, ref, creator, gates }
  const deployment = { ...newDeployment(world, repository), ...made }
  job.deployment = deployment
  addDeployment(world, deployment)
  return deployment
}

/** What all deployments have from their start. */
export function newDeployment(world: World, repository: Repository) {
  const at = world.now()
  const number = repository.deployments.length + 1
  return { ...world.newIds(), number, repository, created_at: at, updated_at: at, statuses: [] }
}

export function addDeployment(world: World, deployment: AnyDeployment): void {
  const { repository, creator: by } = deployment
  repository.deployments.unshift(deployment)
  world.emit({ type: 'deployment_created', repository, by, deployment })
}

function gatesOf({ waitMinutes, reviewers, ours, apps }: Environment): GateKind[] {
  return [
    ...(waitMinutes === 0 ? [] : ['timer' as const]),
    ...(reviewers.length === 0 ? [] : ['reviewers' as const]),
    ...(ours ? ['ours' as const] : []),
    ...apps.map(({ slug }) => `app ${slug}` as const),
  ]
}

export function setDeploymentState(world: World, deployment: AnyDeployment, state: DeploymentState): void {
  const { repository, creator } = deployment
  if (state === 'success') retireOlder(world, deployment)
  const status = { ...world.newIds(), state, creator, created_at: world.now() }
  deployment.statuses.push(status)
  deployment.updated_at = status.created_at
  world.emit({ type: 'deployment', repository, by: creator, deployment, status })
}

/** A success makes the earlier successes of the environment inactive. */
function retireOlder(world: World, newer: AnyDeployment): void {
  for (const deployment of newer.repository.deployments) {
    const isOlder = deployment !== newer && deployment.environment === newer.environment
    if (isOlder && stateOf(deployment) === 'success') setDeploymentState(world, deployment, 'inactive')
  }
}

export function stateOf(deployment: AnyDeployment): DeploymentState {
  return deployment.statuses.at(-1)?.state ?? 'queued'
}
