import { type Static, Type } from 'typebox'
import type { HostDeployment, HostDeploymentState, HostDeploymentStatus } from '../../host-deployment.ts'
import type { HostRepository } from '../../host-repository.ts'
import { dateOrNull, Maybe, readAs, Text, Timestamp, textOrNull } from '../../kit/payload.ts'
import { bareUuid } from './client/uuid.ts'
import { jobId } from './runs.ts'
import { Account, accountOf } from './objects/repository.parser.ts'

const Named = Maybe(Type.Object({ name: Maybe(Text), type: Maybe(Text) }))
const Identified = Maybe(Type.Object({ uuid: Maybe(Text) }))

/** What is deployed: the result of a pipeline. */
const Release = Maybe(
  Type.Object({
    name: Maybe(Text),
    commit: Maybe(Type.Object({ hash: Maybe(Text) })),
    pipeline: Identified,
    created_on: Maybe(Timestamp),
  }),
)

const Deployment = Type.Object({
  uuid: Text,
  environment: Type.Object({ uuid: Maybe(Text), name: Maybe(Text) }),
  release: Release,
  deployable: Release,
  step: Identified,
  last_update_time: Maybe(Timestamp),
  state: Type.Object({
    name: Maybe(Text),
    type: Maybe(Text),
    status: Named,
    deployer: Maybe(Account),
    // The description of the API calls the times otherwise than its answers.
    started_on: Maybe(Timestamp),
    start_date: Maybe(Timestamp),
    completed_on: Maybe(Timestamp),
    completion_date: Maybe(Timestamp),
    url: Maybe(Text),
  }),
})
type DeploymentObject = Static<typeof Deployment>

/** A deployment, and the statuses that its state consists of. */
export type ReadDeployment = { deployment: HostDeployment; statuses: HostDeploymentStatus[] }

/** The names of environments by their UUIDs. Deployments need not have the name. */
export type EnvironmentNames = ReadonlyMap<string, string>

/**
 * Null for one that nobody has started yet: Bitbucket keeps such an object for each pipeline that
 * could be deployed by hand.
 */
export function parseDeployment(
  value: unknown,
  repository: HostRepository,
  names: EnvironmentNames,
): ReadDeployment | null {
  const object = readAs(Deployment, value)
  const release = { ...object.deployable, ...object.release }
  const pipeline = object.release?.pipeline?.uuid ?? object.deployable?.pipeline?.uuid
  const commit = object.release?.commit?.hash ?? object.deployable?.commit?.hash
  const environment = textOrNull(object.environment.name) ?? names.get(bareUuid(object.environment.uuid ?? ''))
  const { startedAt, completedAt } = timesOf(object)
  if (startedAt === null || !commit || environment === undefined) return null
  const deployment: HostDeployment = {
    repository,
    id: bareUuid(object.uuid),
    environment,
    ref: null,
    commit_sha: commit,
    run: pipeline ? { id: bareUuid(pipeline), attempt: null } : null,
    creator: accountOf(object.state.deployer),
    description: textOrNull(release.name),
    created_at: startedAt,
    updated_at: completedAt ?? startedAt,
  }
  return { deployment, statuses: statusesOf(object, deployment, { startedAt, completedAt }) }
}

function timesOf({ state, last_update_time, release, deployable }: DeploymentObject) {
  const isStarted = stateOf(state) !== null
  const changedAt = dateOrNull(last_update_time)
  const startedAt = dateOrNull(state.started_on ?? state.start_date ?? release?.created_on ?? deployable?.created_on)
  const completedAt = dateOrNull(state.completed_on ?? state.completion_date) ?? changedAt ?? startedAt
  return {
    startedAt: isStarted ? (startedAt ?? changedAt) : null,
    completedAt: stateOf(state) === 'in_progress' ? null : completedAt,
  }
}

const RESULTS: Readonly<Record<string, HostDeploymentState>> = {
  successful: 'success',
  failed: 'failure',
  stopped: 'cancelled',
}
const TYPE_PREFIX = /^deployment_state_(?:completed_(?:status_)?(?=.))?/

/** Null if nobody has started it. */
function stateOf(state: DeploymentObject['state']): HostDeploymentState | null {
  const name = wordWithout(state)
  if (name === 'undeployed' || name === null) return null
  if (name !== 'completed') return 'in_progress'
  return RESULTS[wordWithout(state.status) ?? ''] ?? 'failure'
}

function wordWithout(named: Static<typeof Named> | undefined): string | null {
  return (named?.name || named?.type?.replace(TYPE_PREFIX, ''))?.toLowerCase() || null
}

type Times = { startedAt: Date; completedAt: Date | null }

function statusesOf(
  { state, step }: DeploymentObject,
  deployment: HostDeployment,
  { startedAt, completedAt }: Times,
): HostDeploymentStatus[] {
  const status = (word: HostDeploymentState, at: Date): HostDeploymentStatus => ({
    deployment,
    id: null,
    state: word,
    environment_url: null,
    log_url: textOrNull(state.url),
    job_id: step?.uuid && deployment.run ? jobId(deployment.run.id, bareUuid(step.uuid)) : null,
    creator: deployment.creator,
    created_at: at,
  })
  const started = status('in_progress', startedAt)
  return completedAt === null ? [started] : [started, status(stateOf(state) ?? 'in_progress', completedAt)]
}

const Environment = Type.Object({ uuid: Text, name: Text })

export function parseEnvironment(value: unknown): { id: string; name: string } {
  const { uuid, name } = readAs(Environment, value)
  return { id: bareUuid(uuid), name }
}
