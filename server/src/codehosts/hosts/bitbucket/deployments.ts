import { type Static, Type } from 'typebox'
import { type DeploymentReads, truncatePage } from '../../code-host.ts'
import {
  type HostDeployment,
  type HostDeploymentState,
  type HostDeploymentStatus,
  NO_RULES,
} from '../../host-deployment.ts'
import type { HostRepository } from '../../host-repository.ts'
import { Maybe, parseDate, parseText, readAs, Text, Timestamp } from '../../kit/payload.ts'
import { encodePath } from '../../kit/rest-client.ts'
import { type BitbucketApi, formatUuid, parseUuid } from './client.ts'
import { Account, parseAccount } from './repositories.ts'
import { formatJobId } from './runs.ts'

/** There is one for every pipeline that nobody has deployed by hand. */
const UNSTARTED_PAGES_MAX = 20

/** A deployment, and the statuses that its state consists of. */
type DeploymentWithStatuses = { deployment: HostDeployment; statuses: HostDeploymentStatus[] }

export function createDeploymentReads(api: BitbucketApi): DeploymentReads {
  // A deployment that was just fetched has its statuses in it.
  const statuses = new WeakMap<HostDeployment, HostDeploymentStatus[]>()
  const remember = (found: DeploymentWithStatuses | null): HostDeployment | null => {
    if (found !== null) statuses.set(found.deployment, found.statuses)
    return found?.deployment ?? null
  }
  return {
    /** Newest first by their start; those that nobody has started come first, and are left out. */
    async listDeployments(repository, options) {
      const names = await fetchEnvironments(api, repository)
      const list = { path: api.repositoryPath(repository, '/deployments'), query: { sort: '-state.started_on' } }
      const parse = (value: unknown) => remember(parseDeployment(value, repository, names))
      let page = await api.fetchPage(list, options, parse)
      for (let pages = 1; page.items.length === 0 && page.next !== null && pages < UNSTARTED_PAGES_MAX; pages += 1)
        page = await api.fetchPage(list, { next: page.next }, parse)
      return truncatePage(page, options.since)
    },

    async readDeployment(repository, id) {
      return remember(await fetchDeployment(api, repository, id))
    },

    /** A deployment has its present state only, and the time of its start. */
    async listDeploymentStatuses(deployment) {
      const remembered = statuses.get(deployment)
      if (remembered !== undefined) return remembered
      const found = await fetchDeployment(api, deployment.repository, deployment.id)
      return (found?.statuses ?? []).map((status) => ({ ...status, deployment }))
    },

    async readEnvironment(repository, name) {
      const names = await fetchEnvironments(api, repository)
      return [...names.values()].includes(name) ? { name, ...NO_RULES } : null
    },

    /** Bitbucket asks no rule and no reviewer before a deployment. */
    listGateRequests: async () => [],
    listPendingDeployments: async () => [],
    listDeploymentReviews: async () => [],
  }
}

async function fetchDeployment(
  api: BitbucketApi,
  repository: HostRepository,
  id: string,
): Promise<DeploymentWithStatuses | null> {
  const found = await api.fetch(api.repositoryPath(repository, encodePath`/deployments/${formatUuid(id)}`))
  return found && parseDeployment(found, repository, await fetchEnvironments(api, repository))
}

/** The names of environments by their UUIDs. Deployments need not have the name. */
type EnvironmentNames = ReadonlyMap<string, string>

const Environment = Type.Object({ uuid: Text, name: Text })

async function fetchEnvironments(api: BitbucketApi, repository: HostRepository): Promise<EnvironmentNames> {
  const path = api.repositoryPath(repository, '/environments')
  const environments = await api.fetchAll({ path }, (value) => readAs(Environment, value))
  return new Map(environments.map(({ uuid, name }) => [parseUuid(uuid), name]))
}

const Word = Maybe(Type.Object({ name: Maybe(Text), type: Maybe(Text) }))
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
    status: Word,
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

/**
 * Null for one that nobody has started yet: Bitbucket keeps such an object for each pipeline that
 * could be deployed by hand.
 */
function parseDeployment(
  value: unknown,
  repository: HostRepository,
  names: EnvironmentNames,
): DeploymentWithStatuses | null {
  const object = readAs(Deployment, value)
  const release = { ...object.deployable, ...object.release }
  const pipeline = object.release?.pipeline?.uuid ?? object.deployable?.pipeline?.uuid
  const commit = object.release?.commit?.hash ?? object.deployable?.commit?.hash
  const environment = parseText(object.environment.name) ?? names.get(parseUuid(object.environment.uuid ?? ''))
  const { startedAt, completedAt } = parseTimes(object)
  if (startedAt === null || !commit || environment === undefined) return null
  const deployment: HostDeployment = {
    repository,
    id: parseUuid(object.uuid),
    environment,
    ref: null,
    commit_sha: commit,
    run: pipeline ? { id: parseUuid(pipeline), attempt: null } : null,
    creator: parseAccount(object.state.deployer),
    description: parseText(release.name),
    created_at: startedAt,
    updated_at: completedAt ?? startedAt,
  }
  return { deployment, statuses: parseStatuses(object, deployment, completedAt) }
}

function parseTimes({ state, last_update_time, release, deployable }: DeploymentObject) {
  const isStarted = parseState(state) !== null
  const changedAt = parseDate(last_update_time)
  const startedAt = parseDate(state.started_on ?? state.start_date ?? release?.created_on ?? deployable?.created_on)
  const completedAt = parseDate(state.completed_on ?? state.completion_date) ?? changedAt ?? startedAt
  return {
    startedAt: isStarted ? (startedAt ?? changedAt) : null,
    completedAt: parseState(state) === 'in_progress' ? null : completedAt,
  }
}

const RESULTS: Readonly<Record<string, HostDeploymentState>> = {
  successful: 'success',
  failed: 'failure',
  stopped: 'cancelled',
}

/** Null if nobody has started it. */
function parseState(state: DeploymentObject['state']): HostDeploymentState | null {
  const name = parseWord(state)
  if (name === 'undeployed' || name === null) return null
  if (name !== 'completed') return 'in_progress'
  return RESULTS[parseWord(state.status) ?? ''] ?? 'failure'
}

const TYPE_PREFIX = /^deployment_state_(?:completed_(?:status_)?(?=.))?/

/** The name of a state or result in lower case. Some objects have it only in their type. */
function parseWord(named: Static<typeof Word> | undefined): string | null {
  return (named?.name || named?.type?.replace(TYPE_PREFIX, ''))?.toLowerCase() || null
}

function parseStatuses(
  { state, step }: DeploymentObject,
  deployment: HostDeployment,
  completedAt: Date | null,
): HostDeploymentStatus[] {
  const status = (word: HostDeploymentState, at: Date): HostDeploymentStatus => ({
    deployment,
    id: null,
    state: word,
    environment_url: null,
    log_url: parseText(state.url),
    job_id: step?.uuid && deployment.run ? formatJobId(deployment.run.id, parseUuid(step.uuid)) : null,
    creator: deployment.creator,
    created_at: at,
  })
  const started = status('in_progress', deployment.created_at)
  return completedAt === null ? [started] : [started, status(parseState(state) ?? 'in_progress', completedAt)]
}
