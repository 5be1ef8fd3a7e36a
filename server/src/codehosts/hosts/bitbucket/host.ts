import type { Clock } from '../../../platform/clock.ts'
import type { Log } from '../../../platform/log.ts'
import type { CodeHost, ConnectionAccess, HostClient, HostCredentials } from '../../code-host.ts'
import { ClientCache, clientKey } from '../../kit/client-cache.ts'
import { impatient, PACE, type Pace } from '../../kit/pace.ts'
import { RestClient } from '../../kit/rest-client.ts'
import { act } from './actions.ts'
import { BitbucketWebhooks } from './webhook.ts'
import { addressesOf } from './client/addresses.ts'
import { BitbucketApi } from './client.ts'
import { BitbucketSession } from './credentials.ts'
import { readDeliveryHead } from './delivery-head.ts'
import { translate } from './events.ts'
import { alertReads } from './reads/alert-reads.ts'
import { changeReads } from './reads/change-reads.ts'
import { commitReads } from './commits.ts'
import { deploymentReads } from './reads/deployment-reads.ts'
import { pullRequestReads } from './changes.ts'
import { readWorkspace } from './reads/read-workspace.ts'
import { repositoryReads } from './repositories.ts'
import { runReads } from './reads/run-reads.ts'
import { verify } from './webhook-secret.ts'

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

type ReadCredentials = () => Promise<HostCredentials | null>

/** Bitbucket Cloud. A workspace is connected with an access token or an OAuth consumer. */
export function createBitbucketHost({ url, readCredentials, log, clock, pace = PACE }: BitbucketHostOptions): CodeHost {
  const addresses = addressesOf(url)
  const restOf = (read: ReadCredentials, itsPace: Pace) => {
    const session = new BitbucketSession({ addresses, read, pace: itsPace, clock })
    const authorize = (renew: boolean) => session.authorize(renew)
    return new RestClient({ provider: 'bitbucket', base: addresses.api, authorize, pace: itsPace, clock })
  }
  const open = ({ id, installation_id: workspace, impatient: isImpatient }: ConnectionAccess) => {
    const rest = restOf(() => readCredentials(id), isImpatient ? impatient(pace) : pace)
    return clientOf(new BitbucketApi({ rest, addresses, workspace, log }), clock)
  }
  const clients = new ClientCache()
  return {
    connects: 'account',
    webhooks: { verify, readHead: readDeliveryHead, translate },
    host: async () => addresses.host,
    readInstallation: (id, credentials) =>
      readWorkspace(
        restOf(async () => credentials, pace),
        id,
      ),
    open: (access) => clients.get(clientKey(access), () => open(access)),
    redeliveries: null,
  }
}

function clientOf(api: BitbucketApi, clock: Clock): HostClient {
  const { ensureWebhook, removeWebhooks } = new BitbucketWebhooks(api, clock)
  return {
    ...repositoryReads(api),
    ...runReads(api),
    ...deploymentReads(api),
    ...alertReads(api),
    ...commitReads(api),
    ...pullRequestReads(api),
    ...changeReads(api),
    act: act(api),
    ensureWebhook,
    removeWebhooks,
  }
}
