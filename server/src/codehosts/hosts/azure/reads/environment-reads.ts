import { Type } from 'typebox'
import type { HostReader } from '../../../code-host.ts'
import { Maybe, readAs, Text } from '../../../kit/payload.ts'
import { restPath } from '../../../kit/rest-client.ts'
import type { AzureApi } from '../client.ts'
import { pendingApproversOf, reviewsOf } from '../objects/approval.parser.ts'
import {
  type Check,
  connectionOf,
  type Environment,
  environmentOf,
  parseCheck,
  parseEnvironment,
  pathsOf,
  reviewersOf,
} from '../environments.ts'
import { parseRunId } from '../objects/run-id.ts'
import { approvalsOf } from './approvals.ts'
import { type Checkpoint, readCheckpoints } from '../approvals.ts'

type EnvironmentReads = Pick<HostReader, 'readEnvironment' | 'listPendingDeployments' | 'listDeploymentReviews'>

export function environmentReads(api: AzureApi): EnvironmentReads {
  return {
    async readEnvironment(repository, name) {
      const project = await api.projectOf(repository)
      const environment = project && (await findEnvironment(api, project, { name }))
      if (!environment) return null
      const path = restPath`/${project}/_apis/pipelines/checks/configurations`
      const query = { resourceType: 'environment', resourceId: environment.id, $expand: 'settings' }
      const list = await api.readList({ path, query, preview: 1 })
      if (list === null) return null
      const checks = api.parseItems(list.values, parseCheck)
      return environmentOf(environment, checks, await ownChecks(api, project, checks))
    },

    async listPendingDeployments(_, runId) {
      const build = parseRunId(runId)
      const open = build ? (await readCheckpoints(api, build)).filter(({ is_open }) => is_open) : []
      if (build === null || open.length === 0) return []
      const approvals = await approvalsOf(api, build.project, open)
      const named = await environmentsOf(api, build.project, open)
      return named.map(({ id, name }) => {
        const its = approvals.filter(({ environment }) => environment === id)
        return { environment: name, ...reviewersOf(its.flatMap(({ approval }) => pendingApproversOf(approval))) }
      })
    },

    async listDeploymentReviews(repository, runId) {
      const build = parseRunId(runId)
      const checkpoints = build ? await readCheckpoints(api, build) : []
      if (build === null || checkpoints.length === 0) return []
      const approvals = await approvalsOf(api, build.project, checkpoints)
      const named = approvals.length === 0 ? [] : await environmentsOf(api, build.project, checkpoints)
      return approvals.flatMap(({ approval, environment, attempt }) => {
        const environments = named.flatMap(({ id, name }) => (id === environment ? name : []))
        return reviewsOf(approval, { repository, run: { id: runId, attempt }, environments, otherwise: api.now() })
      })
    },
  }
}

/** An environment by id or by name; null if it does not exist. */
export async function findEnvironment(
  api: AzureApi,
  project: string,
  environment: number | { name: string },
): Promise<Environment | null> {
  const path = restPath`/${project}/_apis/distributedtask/environments`
  if (typeof environment === 'number') {
    const found = await api.read({ path: path + restPath`/${environment}` })
    return found === null ? null : parseEnvironment(found)
  }
  const { name } = environment
  const found = await api.readAll({ path, query: { name } }, parseEnvironment)
  // Names are compared without case, and the filter also finds longer names.
  return found.find((one) => one.name.toLowerCase() === name.toLowerCase()) ?? null
}

/** The environments whose checks hold a run. */
export async function environmentsOf(
  api: AzureApi,
  project: string,
  checkpoints: readonly Checkpoint[],
): Promise<Environment[]> {
  const ids = new Set(checkpoints.flatMap(({ checks }) => checks.map(({ environment }) => environment)))
  const found = await Promise.all([...ids].map((id) => findEnvironment(api, project, id)))
  return found.filter((environment) => environment !== null)
}

const ServiceConnection = Type.Object({ url: Maybe(Text) })

/** The checks that call the address of our connection. */
async function ownChecks(api: AzureApi, project: string, checks: Check[]): Promise<Set<Check>> {
  const { connectionId } = api.options
  const own = new Set<Check>()
  for (const check of checks) {
    const address = [await readConnectionUrl(api, project, connectionOf(check)), ...pathsOf(check)].join('')
    if (connectionId !== null && address.includes(`/webhooks/azure/${connectionId}`)) own.add(check)
  }
  return own
}

async function readConnectionUrl(api: AzureApi, project: string, id: string | null): Promise<string> {
  const found = id ? await api.read({ path: restPath`/${project}/_apis/serviceendpoint/endpoints/${id}` }) : null
  return (found === null ? null : readAs(ServiceConnection, found).url) ?? ''
}
