import type { Clock } from '../../../platform/clock.ts'
import type { Log } from '../../../platform/log.ts'
import { type CodeHost, createDispatcher, type HostClient, type HostParts } from '../../code-host.ts'
import { PACE, type Pace, Spacing, toImpatientPace } from '../../kit/api-fetch.ts'
import { ClientCache, formatClientKey } from '../../kit/cache.ts'
import { createActionSenders } from './actions.ts'
import { createAlertReads } from './alerts.ts'
import { createChangeReads } from './changes.ts'
import { GithubApi } from './client.ts'
import { createCommitReads } from './commits.ts'
import { AppKeys, type ReadAppCredentials } from './credentials.ts'
import { createDeploymentReads } from './deployments.ts'
import { createParseDelivery } from './events.ts'
import { createJobReads } from './jobs.ts'
import { createRepositoryReads, fetchInstallation } from './repositories.ts'
import { createRunReads } from './runs.ts'
import { createRedeliveries, createVerify, hasSignature, readHead, webhookActions } from './webhook.ts'

type GithubHostOptions = {
  readCredentials: ReadAppCredentials
  log: Log
  clock: Clock
  /** Tests wait less. */
  pace?: Pace
}

export function openHost({ hostApps, log, clock }: HostParts): CodeHost {
  const app = hostApps.get('github')
  return createGithubHost({ readCredentials: async () => (await app?.read()) ?? null, log, clock })
}

/** GitHub asks for at most one change in a second ("Best practices for using the REST API"). */
const WRITES_APART_MS = 1000

/** GitHub, github.com or an Enterprise Server. Each process has one. */
export function createGithubHost({ readCredentials, log, clock, pace = PACE }: GithubHostOptions): CodeHost {
  const keys = new AppKeys(readCredentials, clock)
  const spacings = new Map<string | null, Spacing>()
  const openApi = (installation: string | null, itsPace: Pace) => {
    const writes = spacings.get(installation) ?? new Spacing(WRITES_APART_MS)
    spacings.set(installation, writes)
    return new GithubApi({ keys, installation, writes, pace: itsPace, log, clock })
  }
  const clients = new ClientCache()
  const app = openApi(null, pace)
  return {
    connects: 'app',
    webhooks: { hasSignature, verify: createVerify(readCredentials), readHead, translate: createParseDelivery(clock) },
    host: async () => parseHost((await keys.current()).api_url),
    open: (access) =>
      clients.get(formatClientKey(access), () =>
        createClient(openApi(access.installation_id, access.impatient ? toImpatientPace(pace) : pace)),
      ),
    readInstallation: (id) => fetchInstallation(app, id),
    redeliveries: createRedeliveries(app),
  }
}

function createClient(api: GithubApi): HostClient {
  return {
    ...createRepositoryReads(api),
    ...createRunReads(api),
    ...createJobReads(api),
    ...createDeploymentReads(api),
    ...createAlertReads(api),
    ...createChangeReads(api),
    ...createCommitReads(api),
    act: createDispatcher(createActionSenders(api)),
    ...webhookActions,
  }
}

function parseHost(apiUrl: string): string {
  const { host } = new URL(apiUrl)
  return host === 'api.github.com' ? 'github.com' : host
}
