import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import type { CodeHost, HostClient, HostWebhooks } from '../code-host.ts'
import { ClientCache, clientKey } from '../kit/client-cache.ts'
import { act } from './actions/act.ts'
import type { ReadAppCredentials } from './app-credentials.ts'
import { GithubApi } from './client/github-api.ts'
import type { Pace } from './client/open-octokit.ts'
import { AppKeys, Session } from './client/session.ts'
import { createTranslate } from './events/translate.ts'
import { alertReads } from './reads/alert-reads.ts'
import { appReads } from './reads/app-reads.ts'
import { changeReads } from './reads/change-reads.ts'
import { readBranchHead, readCommits } from './reads/commit-reads.ts'
import { deploymentReads } from './reads/deployment-reads.ts'
import { readJobLog } from './reads/read-job-log.ts'
import { repositoryReads } from './reads/repository-reads.ts'
import { runReads } from './reads/run-reads.ts'

type GithubHostOptions = {
  readCredentials: ReadAppCredentials
  log: Log
  clock: Clock
  /** Checks signatures and reads the headers of deliveries. */
  webhooks: Pick<HostWebhooks, 'verify' | 'readHead'>
  /** Tests wait less. */
  pace?: Pace
}

const PACE: Pace = { timeLimitMs: 30_000, waitUnitMs: 1000 }
const IMPATIENT_MS_MAX = 5000

/** GitHub, github.com or an Enterprise Server. Each process has one. */
export function createGithubHost({ readCredentials, log, clock, webhooks, pace = PACE }: GithubHostOptions): CodeHost {
  const keys = new AppKeys(readCredentials, clock)
  const now = () => clock.now()
  const openApi = (installation: string | null, itsPace = pace) =>
    new GithubApi(new Session({ keys, installation, pace: itsPace, log, clock }), log, now)
  const clients = new ClientCache()
  const impatient = { ...pace, timeLimitMs: Math.min(pace.timeLimitMs, IMPATIENT_MS_MAX), once: true }
  return {
    connects: 'app',
    webhooks: { ...webhooks, translate: createTranslate(clock) },
    host: async () => hostOf((await keys.current()).api_url),
    open: (access) =>
      clients.get(clientKey(access), () =>
        clientOf(openApi(access.installation_id, access.impatient ? impatient : pace), now),
      ),
    ...appReads(openApi(null)),
  }
}

function clientOf(api: GithubApi, now: () => Date): HostClient {
  return {
    ...repositoryReads(api),
    ...runReads(api),
    ...deploymentReads(api, now),
    ...alertReads(api),
    ...changeReads(api),
    readCommits: readCommits(api),
    readBranchHead: readBranchHead(api),
    readJobLog: (repository, jobId, bytesMax) => readJobLog(api, repository, jobId, bytesMax),
    act: act(api),
    /** The App has one webhook for all installations. */
    ensureWebhook: async () => {},
    removeWebhooks: async () => {},
  }
}

function hostOf(apiUrl: string): string {
  const { host } = new URL(apiUrl)
  return host === 'api.github.com' ? 'github.com' : host
}
