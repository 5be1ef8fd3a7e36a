import type { Clock } from '../../../platform/clock.ts'
import type { Log } from '../../../platform/log.ts'
import {
  type CodeHost,
  type ConnectionAccess,
  createDispatcher,
  type HostClient,
  type HostCredentials,
  type HostParts,
} from '../../code-host.ts'
import { PACE, type Pace, toImpatientPace } from '../../kit/api-fetch.ts'
import { ClientCache, formatClientKey } from '../../kit/cache.ts'
import { RestClient } from '../../kit/rest-client.ts'
import { createActionSenders } from './actions.ts'
import { createAlertReads } from './alerts.ts'
import { createChangeReads } from './changes.ts'
import { BitbucketApi, parseAddresses } from './client.ts'
import { createCommitReads } from './commits.ts'
import { openSession } from './credentials.ts'
import { createDeploymentReads } from './deployments.ts'
import { parseDelivery } from './events.ts'
import { createRepositoryReads, fetchInstallation } from './repositories.ts'
import { createRunReads } from './runs.ts'
import { createWebhookActions, hasSignature, readHead, verify } from './webhook.ts'

/** Bitbucket at the address of the settings. */
export function openHost({ config, ...parts }: HostParts): CodeHost {
  return createBitbucketHost({ ...parts, url: config.codeHosts.bitbucket.url })
}

type BitbucketHostOptions = {
  /** The address of the API, without a path: `https://api.bitbucket.org`. */
  url: string
  /** The credentials of a connection; null if it has none. */
  readCredentials: (connectionId: string) => Promise<HostCredentials | null>
  log: Log
  clock: Clock
  /** Tests wait less. */
  pace?: Pace
}

/** Bitbucket Cloud. A workspace is connected with an access token or an OAuth consumer. */
export function createBitbucketHost({ url, readCredentials, log, clock, pace = PACE }: BitbucketHostOptions): CodeHost {
  const addresses = parseAddresses(url)
  const openRest = (read: () => Promise<HostCredentials | null>, itsPace: Pace) => {
    const session = openSession({ addresses, read, pace: itsPace, clock })
    const authorize = (renew: boolean) => session.authorize(renew)
    return new RestClient({ provider: 'bitbucket', base: addresses.api, authorize, pace: itsPace, clock })
  }
  const open = ({ id, installation_id: workspace, impatient: isImpatient }: ConnectionAccess) => {
    const rest = openRest(() => readCredentials(id), isImpatient ? toImpatientPace(pace) : pace)
    return createClient(new BitbucketApi({ rest, addresses, workspace, log }), clock)
  }
  const clients = new ClientCache()
  return {
    connects: 'account',
    webhooks: { hasSignature, verify, readHead, translate: parseDelivery },
    host: async () => addresses.host,
    async readInstallation(id, credentials) {
      const rest = openRest(async () => credentials, pace)
      return fetchInstallation(rest, id)
    },
    open: (access) => clients.get(formatClientKey(access), () => open(access)),
    redeliveries: null,
  }
}

function createClient(api: BitbucketApi, clock: Clock): HostClient {
  return {
    ...createRepositoryReads(api),
    ...createRunReads(api),
    ...createDeploymentReads(api),
    ...createAlertReads(api),
    ...createCommitReads(api),
    ...createChangeReads(api),
    act: createDispatcher(createActionSenders(api)),
    ...createWebhookActions(api, clock),
  }
}
