import type { KeyObject } from 'node:crypto'
import type { Clock } from '../../../platform/clock.ts'
import type { Log } from '../../../platform/log.ts'
import { type CodeHost, dispatchTo, type HostClient, type HostCredentials, type HostParts } from '../../code-host.ts'
import { ClientCache, clientKey } from '../../kit/client-cache.ts'
import { impatient, PACE, type Pace } from '../../kit/pace.ts'
import { actionSenders } from './actions.ts'
import { alertReads } from './alerts.ts'
import { changeReads } from './changes.ts'
import { AzureApi, parseUrls } from './client.ts'
import { commitReads } from './commits.ts'
import { openSession } from './credentials.ts'
import { deploymentReads } from './deployments.ts'
import { translate } from './events.ts'
import { readInstallation, repositoryReads } from './repositories.ts'
import { runReads } from './runs.ts'
import { createReadHead, verify } from './webhook.ts'
import { webhookActions } from './webhook-setup.ts'

/** Azure DevOps at the addresses of the settings. */
export function openHost({ config, ...parts }: HostParts): CodeHost {
  const { url, signInUrl } = config.codeHosts.azure
  return createAzureHost({ ...parts, url, entraUrl: signInUrl ?? url })
}

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
  const urls = parseUrls(options.url, options.entraUrl)
  const host = new URL(urls.main).host
  const clients = new ClientCache()
  const openApi = (organizationId: string, { connectionId, read, pace: itsPace }: Opening) => {
    const session = openSession({ read, entraUrl: urls.entra, pace: itsPace, clock })
    return new AzureApi({ urls, session, organizationId, connectionId, pace: itsPace, log, clock })
  }
  return {
    connects: 'account',
    webhooks: { verify, readHead: createReadHead(sealingKey, clock), translate },
    host: async () => host,
    redeliveries: null,

    open: (access) =>
      clients.get(clientKey(access), () => {
        const read = () => options.readCredentials(access.id)
        const opening = { connectionId: access.id, read, pace: access.impatient ? impatient(pace) : pace }
        return createClient(openApi(access.installation_id, opening), host, sealingKey)
      }),

    readInstallation(name, credentials) {
      const read = async () => credentials
      return readInstallation(openApi(name, { connectionId: null, read, pace }), name)
    },
  }
}

type Opening = { connectionId: string | null; read: () => Promise<HostCredentials | null>; pace: Pace }

function createClient(api: AzureApi, host: string, sealingKey: KeyObject): HostClient {
  return {
    ...repositoryReads(api, host),
    ...runReads(api),
    ...deploymentReads(api),
    ...alertReads(api),
    ...changeReads(api),
    ...commitReads(api),
    act: dispatchTo(actionSenders(api, sealingKey)),
    ...webhookActions(api),
  }
}
