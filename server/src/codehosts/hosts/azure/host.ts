import type { KeyObject } from 'node:crypto'
import type { Clock } from '../../../platform/clock.ts'
import type { Log } from '../../../platform/log.ts'
import type { CodeHost, ConnectionAccess, HostClient, HostCredentials } from '../../code-host.ts'
import { ClientCache, clientKey } from '../../kit/client-cache.ts'
import { impatient, PACE, type Pace } from '../../kit/pace.ts'
import { act } from './actions/act.ts'
import { AzureApi } from './client.ts'
import { azureUrls } from './client/azure-urls.ts'
import { SignIn } from './credentials.ts'
import { createReadHead } from './webhook.ts'
import { translate } from './events.ts'
import { webhookActions } from './webhook-setup.ts'
import { alertReads } from './reads/alert-reads.ts'
import { changeReads } from './reads/change-reads.ts'
import { commitReads } from './commits.ts'
import { deploymentReads } from './reads/deployment-reads.ts'
import { environmentReads } from './reads/environment-reads.ts'
import { pullRequestReads } from './reads/pull-request-reads.ts'
import { listPushes } from './reads/push-reads.ts'
import { readOrganization } from './reads/read-organization.ts'
import { repositoryReads } from './repositories.ts'
import { runReads } from './reads/run-reads.ts'
import { verify } from './webhook-secret.ts'

type AzureHostOptions = {
  /** `https://dev.azure.com`, or the origin of all APIs. */
  url: string
  entraUrl: string
  /** The credentials of a connection; null if it has none. */
  readCredentials: (connectionId: string) => Promise<HostCredentials | null>
  /** Seals the tokens of checks. */
  sealingKey: KeyObject
  log: Log
  clock: Clock
  /** Tests wait less. */
  pace?: Pace
}

/** Azure DevOps Services. Each process has one. */
export function createAzureHost(options: AzureHostOptions): CodeHost {
  const { sealingKey, log, clock, pace = PACE } = options
  const urls = azureUrls(options.url, options.entraUrl)
  const host = new URL(urls.main).host
  const clients = new ClientCache()
  const openApi = (access: ConnectionAccess, itsPace: Pace) => {
    const read = () => options.readCredentials(access.id)
    const signIn = new SignIn({ read, entraUrl: urls.entra, pace: itsPace, clock })
    const names = { organizationId: access.installation_id, connectionId: access.id }
    return new AzureApi({ urls, signIn, ...names, pace: itsPace, log, clock })
  }
  return {
    connects: 'account',
    webhooks: { verify, readHead: createReadHead(sealingKey, clock), translate },
    host: async () => host,
    redeliveries: null,

    open: (access) =>
      clients.get(clientKey(access), () =>
        clientOf(openApi(access, access.impatient ? impatient(pace) : pace), host, sealingKey),
      ),

    readInstallation: (name, credentials) => {
      const read = async () => credentials
      const signIn = new SignIn({ read, entraUrl: urls.entra, pace, clock })
      return readOrganization(
        new AzureApi({ urls, signIn, organizationId: name, connectionId: null, pace, log, clock }),
        name,
      )
    },
  }
}

function clientOf(api: AzureApi, host: string, sealingKey: KeyObject): HostClient {
  return {
    ...repositoryReads(api, host),
    ...runReads(api),
    ...deploymentReads(api),
    ...environmentReads(api),
    ...alertReads(api),
    ...pullRequestReads(api),
    ...changeReads(api),
    ...commitReads(api),
    listPushes: listPushes(api),
    act: act(api, sealingKey),
    ...webhookActions(api),
  }
}
