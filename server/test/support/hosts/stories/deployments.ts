import type {
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
  const made = { name, created_at: world.now(), reviewers: [], ours: false, branches: null }
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
}

/** A job is about to deploy to its environment: its rules hold it or let it go on. */
export function openDeployment(world: World, run: Run, job: Job): void {
  const environment = environmentOf(world, run.repository, job.environment as string)
  if (environment.branches !== null && !environment.branches.includes(run.branch)) {
    job.log = `Branch ${run.branch} is not allowed to deploy to ${environment.name}\n`
    endJob(world, run, job, 'failure')
    return
  }
  const deployment = createDeployment(world, run, job, environment)
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

function createDeployment(world: World, run: Run, job: Job, environment: Environment): Deployment {
  const at = world.now()
  const { repository, sha, branch } = run
  const gates: GateKind[] = [...(environment.reviewers.length === 0 ? [] : ['reviewers' as const])]
  if (environment.ours) gates.push('ours')
  const deployment: Deployment = {
    ...world.newIds(),
    number: repository.deployments.length + 1,
    repository,
    run,
    job,
    attempt: job.attempt,
    environment,
    sha,
    ref: branch,
    creator: run.attempts.at(-1)?.actor ?? run.actor,
    created_at: at,
    updated_at: at,
    statuses: [],
    gates: new Map(gates.map((gate) => [gate, 'pending'])),
  }
  job.deployment = deployment
  repository.deployments.unshift(deployment)
  return deployment
}

export function setDeploymentState(world: World, deployment: Deployment, state: DeploymentState): void {
  const { repository, creator } = deployment
  if (state === 'success') retireOlder(world, deployment)
  const status = { ...world.newIds(), state, creator, created_at: world.now() }
  deployment.statuses.push(status)
  deployment.updated_at = status.created_at
  world.emit({ type: 'deployment', repository, by: creator, deployment, status })
}

/** A success makes the earlier successes of the environment inactive. */
function retireOlder(world: World, newer: Deployment): void {
  for (const deployment of newer.repository.deployments) {
    const isOlder = deployment !== newer && deployment.environment === newer.environment
    if (isOlder && stateOf(deployment) === 'success') setDeploymentState(world, deployment, 'inactive')
  }
}

export function stateOf(deployment: Deployment): DeploymentState {
  return deployment.statuses.at(-1)?.state ?? 'queued'
}
