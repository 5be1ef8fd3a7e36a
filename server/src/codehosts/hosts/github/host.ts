import type { Clock } from '../../../platform/clock.ts'
import type { Log } from '../../../platform/log.ts'
import { type CodeHost, dispatchTo, type HostClient, type HostParts } from '../../code-host.ts'
import { ClientCache, clientKey } from '../../kit/client-cache.ts'
import { impatient, PACE, type Pace, Spacing } from '../../kit/pace.ts'
import { actionSenders } from './actions.ts'
import { alertReads } from './alerts.ts'
import { changeReads } from './changes.ts'
import { GithubApi } from './client.ts'
import { commitReads } from './commits.ts'
import { AppKeys, type ReadAppCredentials } from './credentials.ts'
import { deploymentReads } from './deployments.ts'
import { createTranslate } from './events.ts'
import { jobReads } from './jobs.ts'
import { readInstallation, repositoryReads } from './repositories.ts'
import { runReads } from './runs.ts'
import { createVerify, readHead, redeliveries, webhookActions } from './webhook.ts'

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
    webhooks: { verify: createVerify(readCredentials), readHead, translate: createTranslate(clock) },
    host: async () => hostOf((await keys.current()).api_url),
    open: (access) =>
      clients.get(clientKey(access), () =>
        clientOf(openApi(access.installation_id, access.impatient ? impatient(pace) : pace)),
      ),
    readInstallation: (id) => readInstallation(app, id),
    redeliveries: redeliveries(app),
  }
}

function clientOf(api: GithubApi): HostClient {
  return {
    ...repositoryReads(api),
    ...runReads(api),
    ...jobReads(api),
    ...deploymentReads(api),
    ...alertReads(api),
    ...changeReads(api),
    ...commitReads(api),
    act: dispatchTo(actionSenders(api)),
    ...webhookActions,
  }
}

function hostOf(apiUrl: string): string {
  const { host } = new URL(apiUrl)
  return host === 'api.github.com' ? 'github.com' : host
}
