import type { Clock } from '../../../platform/clock.ts'
import type { Log } from '../../../platform/log.ts'
import {
  type CodeHost,
  type ConnectionAccess,
  dispatchTo,
  type HostClient,
  type HostCredentials,
  type HostParts,
} from '../../code-host.ts'
import { ClientCache, clientKey } from '../../kit/client-cache.ts'
import { impatient, PACE, type Pace } from '../../kit/pace.ts'
import { RestClient } from '../../kit/rest-client.ts'
import { actionSenders } from './actions.ts'
import { alertReads } from './alerts.ts'
import { changeReads } from './changes.ts'
import { BitbucketApi, parseAddresses } from './client.ts'
import { commitReads } from './commits.ts'
import { openSession } from './credentials.ts'
import { deploymentReads } from './deployments.ts'
import { translate } from './events.ts'
import { readInstallation, repositoryReads } from './repositories.ts'
import { runReads } from './runs.ts'
import { readHead, verify, webhookActions } from './webhook.ts'

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
    const rest = openRest(() => readCredentials(id), isImpatient ? impatient(pace) : pace)
    return createClient(new BitbucketApi({ rest, addresses, workspace, log }), clock)
  }
  const clients = new ClientCache()
  return {
    connects: 'account',
    webhooks: { verify, readHead, translate },
    host: async () => addresses.host,
    async readInstallation(id, credentials) {
      const rest = openRest(async () => credentials, pace)
      return readInstallation(rest, id)
    },
    open: (access) => clients.get(clientKey(access), () => open(access)),
    redeliveries: null,
  }
}

function createClient(api: BitbucketApi, clock: Clock): HostClient {
  return {
    ...repositoryReads(api),
    ...runReads(api),
    ...deploymentReads(api),
    ...alertReads(api),
    ...commitReads(api),
    ...changeReads(api),
    act: dispatchTo(actionSenders(api)),
    ...webhookActions(api, clock),
  }
}
