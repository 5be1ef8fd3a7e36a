import { type DeploymentReads, pageSince } from '../../../code-host.ts'
import { type HostDeployment, type HostDeploymentStatus, NO_RULES } from '../../../host-deployment.ts'
import type { HostRepository } from '../../../host-repository.ts'
import { restPath } from '../../../kit/rest-client.ts'
import type { BitbucketApi } from '../client.ts'
import { bracedUuid } from '../client/uuid.ts'
import {
  type EnvironmentNames,
  parseDeployment,
  parseEnvironment,
  type ReadDeployment,
} from '../deployments.ts'

/** There is one for every pipeline that nobody has deployed by hand. */
const UNSTARTED_PAGES_MAX = 20

export function deploymentReads(api: BitbucketApi): DeploymentReads {
  // A deployment that was just read has its statuses in it.
  const statuses = new WeakMap<HostDeployment, HostDeploymentStatus[]>()
  const remember = (read: ReadDeployment | null): HostDeployment | null => {
    if (read !== null) statuses.set(read.deployment, read.statuses)
    return read?.deployment ?? null
  }
  return {
    /** Newest first by their start; those that nobody has started come first, and are left out. */
    async listDeployments(repository, options) {
      const names = await listEnvironments(api, repository)
      const list = { path: api.pathOf(repository, '/deployments'), query: { sort: '-state.started_on' } }
      const parse = (value: unknown) => remember(parseDeployment(value, repository, names))
      let page = await api.readPage(list, options, parse)
      for (let pages = 1; page.items.length === 0 && page.next !== null && pages < UNSTARTED_PAGES_MAX; pages += 1)
        page = await api.readPage(list, { next: page.next }, parse)
      return pageSince(page, options.since)
    },

    async readDeployment(repository, id) {
      return remember(await readOne(api, repository, id))
    },

    /** A deployment has its present state only, and the time of its start. */
    async listDeploymentStatuses(deployment) {
      const known = statuses.get(deployment)
      if (known !== undefined) return known
      const read = await readOne(api, deployment.repository, deployment.id)
      return (read?.statuses ?? []).map((status) => ({ ...status, deployment }))
    },

    async readEnvironment(repository, name) {
      const names = await listEnvironments(api, repository)
      if (![...names.values()].includes(name)) return null
      return { name, ...NO_RULES }
    },

    /** Bitbucket asks no rule and no reviewer before a deployment. */
    listGateRequests: async () => [],
    listPendingDeployments: async () => [],
    listDeploymentReviews: async () => [],
  }
}

async function readOne(api: BitbucketApi, repository: HostRepository, id: string): Promise<ReadDeployment | null> {
  const found = await api.read(api.pathOf(repository, restPath`/deployments/${bracedUuid(id)}`))
  return found && parseDeployment(found, repository, await listEnvironments(api, repository))
}

async function listEnvironments(api: BitbucketApi, repository: HostRepository): Promise<EnvironmentNames> {
  const environments = await api.readAll({ path: api.pathOf(repository, '/environments') }, parseEnvironment)
  return new Map(environments.map(({ id, name }) => [id, name]))
}
