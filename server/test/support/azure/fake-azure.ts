import { join } from 'node:path'
import { Description, readDescription } from '../hosts/description.ts'
import type { ConnectingServer, FakeHost, HostAbilities } from '../hosts/fake-host.ts'
import { startRestServer } from '../hosts/rest-server.ts'
import { Stories } from '../hosts/stories/stories.ts'
import { Trouble } from '../hosts/trouble.ts'
import type { Account, Environment, EnvironmentRules, Repository, Run } from '../hosts/types.ts'
import { jobDeployments } from '../hosts/world.ts'
import type { Json } from '../json.ts'
import { accountRoutes } from './account-routes.ts'
import { checkIds, environmentId, sendEvents } from './events.ts'
import { gitRoutes } from './git-routes.ts'
import { AZURE_PAGES } from './pages.ts'
import { pipelineRoutes } from './pipeline-routes.ts'
import { authenticate, type Caller } from './requests.ts'
import { serviceConnectionRoutes } from './service-connection-routes.ts'
import { hookRoutes, hooksOf, ServiceHooks } from './service-hooks.ts'
import { AzureState } from './state.ts'

const ALERTS = ['code_scanning', 'dependabot', 'secret_scanning'] as const

export const AZURE_ABILITIES: HostAbilities = {
  gate: 'rule',
  reviewers: true,
  comments: true,
  reruns: true,
  alerts: ALERTS,
  dismissals: ALERTS,
}

const FIXTURE = join(import.meta.dirname, '../../fixtures/azure/rest.json.br')
const TENANT = '11111111-2222-4333-8444-555555555555'

/** What Azure DevOps documents, but does not describe in its specifications. */
const UNDESCRIBED = [
  'POST /{tenant}/oauth2/v2.0/token',
  'GET /_apis/resourceAreas/{areaId}',
  'GET /{organization}/_apis/connectionData',
]

export type FakeAzureOptions = {
  /** A service principal of Microsoft Entra instead of a personal access token. */
  principal?: boolean
}

export type FakeAzure = FakeHost & {
  state: AzureState
  url: string
  hooks: ServiceHooks
  operations: Trouble
  /** An organization has another name from now on. */
  rename(organization: Account, name: string): void
}

let description: Description | undefined

const EVENTS = '/{organization}/{scopeIdentifier}/_apis/distributedtask/hubs/{hubName}/plans/{planId}/events'

/**
 * Where Azure DevOps does not keep to its specifications, by their own examples: the item of a
 * change is an object, the records of a timeline are a list, and events are answered with 204.
 */
// biome-ignore lint/suspicious/noExplicitAny: a description is any JSON
function amend({ definitions, paths }: any): void {
  for (const name of ['git.Change', 'git.GitChange']) delete definitions[name]?.properties?.item
  definitions['task.VssJsonCollectionWrapper'].properties.value = { type: 'array', items: { type: 'object' } }
  paths[EVENTS].post.responses['204'] = { description: 'No content' }
}

/** An Azure DevOps with state, on loopback. */
export async function startFakeAzure({ principal = false }: FakeAzureOptions = {}): Promise<FakeAzure> {
  const state = new AzureState()
  const hooks = new ServiceHooks(state)
  const trouble = new Trouble()
  const server = await startRestServer()
  description ??= new Description('azure', readDescription(FIXTURE), { amend })
  state.url = server.url
  server.serve<Caller>({
    routes: {
      ...accountRoutes(state),
      ...gitRoutes(state),
      ...pipelineRoutes(state),
      ...hookRoutes(state, hooks),
      ...serviceConnectionRoutes(state),
    },
    pages: AZURE_PAGES,
    trouble,
    violations: state.world.violations,
    authenticate: (request) => authenticate(state, request),
    errorBody: (_status, message) => ({ $id: '1', message, typeKey: 'Exception', errorCode: 0, eventId: 3000 }),
    description,
    undescribed: UNDESCRIBED,
  })
  sendEvents(state, hooks)
  return {
    ...hostOf(state, hooks, principal),
    webhooks: hooks,
    trouble,
    operations: trouble,
    requests: server.requests,
    state,
    hooks,
    url: server.url,
    rename: (organization, name) => state.rename(organization, name),
    close: () => server.close(),
  }
}

/** An environment belongs to a project: its rules are the same for all repositories of it. */
class AzureStories extends Stories {
  override addEnvironment(repository: Repository, name: string, rules: EnvironmentRules = {}): Environment {
    const its = this.world.repositories.filter(({ project }) => project === repository.project)
    for (const one of its.filter(({ environments }) => environments.has(name))) super.addEnvironment(one, name, rules)
    return super.addEnvironment(repository, name, rules)
  }
}

type Shown = Omit<FakeHost, 'webhooks' | 'trouble' | 'requests' | 'close'>

function hostOf(state: AzureState, hooks: ServiceHooks, principal: boolean): Shown {
  const { world, credentials } = state
  const organizationOf = (login: string) => world.organization(login)
  const connect = (server: ConnectingServer, login: string) =>
    connectWith(state, server, organizationOf(login), principal)
  const runId = ({ repository, id }: Run) => `${repository.project.uuid}_${id}`
  return {
    provider: 'azure',
    name: 'Azure DevOps',
    can: AZURE_ABILITIES,
    stories: new AzureStories(world),
    violations: world.violations,
    settings: () => ({ SHIPLOCK_AZURE_DEVOPS_URL: state.url, SHIPLOCK_ENTRA_URL: state.url }),
    follow: () => undefined,
    connect,
    async rotateCredentials(server, login) {
      await connect(server, login)
    },
    revokeOldCredentials: (login) => credentials.revoke(organizationOf(login), 1),
    revokeCredentials: (login) => credentials.revoke(organizationOf(login), 0),
    hookCount: (login) => hooksOf(state, hooks, organizationOf(login)).length,
    fullName: wholeName,
    repositoryId: ({ uuid }) => uuid,
    runId: ({ run }) => `az_run_${runId(run)}`,
    deploymentId: ({ run, environment, attempt, repository }) =>
      `az_deployment_${runId(run)}_${environmentId(state, repository, environment.name)}_${attempt}`,
    alertId: ({ type, id, repository }) => `az_alert_${type}_${repository.uuid}_${id}`,
    idsOf,
  }
}

/** New credentials. The former ones work until they are revoked. */
function connectWith(
  { credentials }: AzureState,
  server: ConnectingServer,
  organization: Account,
  principal: boolean,
): Promise<Json> {
  const about = ['provider', 'connect', '--org', 'default', '--provider', 'azure', '--account', organization.login]
  const file = server.secretFile(credentials.add(organization))
  const client = ['--client-id', credentials.clientId, '--client-secret-file', file, '--tenant-id', TENANT]
  return server.command(...about, ...(principal ? client : ['--token-file', file]))
}

/** The names of projects stand between that of the organization and that of the repository. */
function wholeName({ owner, project, name }: Repository): string {
  return `${owner.login}/${project.name}/${name}`
}

function idsOf(repository: Repository): string[] {
  const { uuid, owner, project, workflows, runs, environments, alerts, pullRequests } = repository
  const oldest = runs.toReversed()
  const numbers = [...workflows.values(), ...oldest, ...environments.values(), ...alerts].map(({ id }) => String(id))
  const checks = jobDeployments(repository)
    .toReversed()
    .flatMap((one) => Object.values(checkIds(one)))
  return [uuid, owner.uuid, project.uuid, ...numbers, ...checks, ...pullRequests.map(({ uuid: own }) => own)]
}
