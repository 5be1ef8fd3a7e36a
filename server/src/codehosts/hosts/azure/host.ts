import type { KeyObject } from 'node:crypto'
import type { Clock } from '../../../platform/clock.ts'
import type { Log } from '../../../platform/log.ts'
import {
  type CodeHost,
  createDispatcher,
  type HostClient,
  type HostCredentials,
  type HostParts,
} from '../../code-host.ts'
import { PACE, type Pace, toImpatientPace } from '../../kit/api-fetch.ts'
import { ClientCache, formatClientKey } from '../../kit/cache.ts'
import { createActionSenders } from './actions.ts'
import { createAlertReads } from './alerts.ts'
import { createChangeReads } from './changes.ts'
import { AzureApi, parseUrls } from './client.ts'
import { createCommitReads } from './commits.ts'
import { openSession } from './credentials.ts'
import { createDeploymentReads } from './deployments.ts'
import { parseDelivery } from './events.ts'
import { createRepositoryReads, fetchInstallation } from './repositories.ts'
import { createRunReads } from './runs.ts'
import { createReadHead, hasSignature, verify } from './webhook.ts'
import { createWebhookActions } from './webhook-setup.ts'

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
    webhooks: { hasSignature, verify, readHead: createReadHead(sealingKey, clock), translate: parseDelivery },
    host: async () => host,
    redeliveries: null,

    open: (access) =>
      clients.get(formatClientKey(access), () => {
        const read = () => options.readCredentials(access.id)
        const opening = { connectionId: access.id, read, pace: access.impatient ? toImpatientPace(pace) : pace }
        return createClient(openApi(access.installation_id, opening), host, sealingKey)
      }),

    readInstallation(name, credentials) {
      const read = async () => credentials
      return fetchInstallation(openApi(name, { connectionId: null, read, pace }), name)
    },
  }
}

type Opening = { connectionId: string | null; read: () => Promise<HostCredentials | null>; pace: Pace }

function createClient(api: AzureApi, host: string, sealingKey: KeyObject): HostClient {
  return {
    ...createRepositoryReads(api, host),
    ...createRunReads(api),
    ...createDeploymentReads(api),
    ...createAlertReads(api),
    ...createChangeReads(api),
    ...createCommitReads(api),
    act: createDispatcher(createActionSenders(api, sealingKey)),
    ...createWebhookActions(api),
  }
}
