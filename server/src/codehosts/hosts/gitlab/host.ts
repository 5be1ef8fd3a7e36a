import type { Clock } from '../../../platform/clock.ts'
import type { Log } from '../../../platform/log.ts'
import { type CodeHost, dispatchTo, type HostClient, type HostCredentials, type HostParts } from '../../code-host.ts'
import { ClientCache, clientKey } from '../../kit/client-cache.ts'
import { impatient, PACE, type Pace } from '../../kit/pace.ts'
import { RestClient } from '../../kit/rest-client.ts'
import { actionSenders } from './actions.ts'
import { alertReads } from './alerts.ts'
import { changeReads } from './changes.ts'
import { GitlabApi, readConnectedAccount, Session } from './client.ts'
import { commitReads } from './commits.ts'
import { refused, tokenOf } from './credentials.ts'
import { deploymentReads } from './deployments.ts'
import { createTranslate } from './events.ts'
import { repositoryReads } from './repositories.ts'
import { runReads } from './runs.ts'
import { readHead, verify, webhookActions } from './webhook.ts'

export type GitlabHostOptions = {
  /** The address of the server: `https://gitlab.com`, with its path if it has one. */
  url: string
  /** Null for a connection without credentials. */
  readCredentials(connectionId: string): Promise<HostCredentials | null>
  log: Log
  clock: Clock
  /** Tests wait less. */
  pace?: Pace
}

export function openHost({ config, readCredentials, log, clock }: HostParts): CodeHost {
  return createGitlabHost({ url: config.codeHosts.gitlab.url, readCredentials, log, clock })
}

/** GitLab, gitlab.com or a server of one's own. Each process has one. */
export function createGitlabHost(options: GitlabHostOptions): CodeHost {
  const { url, readCredentials, clock, pace = PACE } = options
  const clients = new ClientCache()
  return {
    connects: 'account',
    webhooks: { verify, readHead, translate: createTranslate(clock) },
    host: async () => hostOf(url),
    async readInstallation(id, credentials) {
      const api = openApi(options, async () => tokenOf(credentials), pace)
      const account = await readConnectedAccount(api, id).catch(refused)
      return account && { id: account.id, account, repositories: 'all', suspended: false }
    },
    open(access) {
      const { id, installation_id: accountId } = access
      const readToken = async () => tokenOf(await readCredentials(id))
      return clients.get(clientKey(access), () => {
        const api = openApi(options, readToken, access.impatient ? impatient(pace) : pace)
        return clientOf(new Session({ ...namesOf(url), api, accountId, clock }))
      })
    },
    /** GitLab tries again itself, and cannot list what failed for all webhooks. */
    redeliveries: null,
  }
}

function clientOf(session: Session): HostClient {
  return {
    ...repositoryReads(session),
    ...runReads(session),
    ...deploymentReads(session),
    ...alertReads(session),
    ...changeReads(session),
    ...commitReads(session),
    act: dispatchTo(actionSenders(session)),
    ...webhookActions(session),
  }
}

function openApi({ url, log, clock }: GitlabHostOptions, readToken: () => Promise<string>, pace: Pace): GitlabApi {
  const authorize = async () => ({ 'private-token': await readToken() })
  return new GitlabApi(new RestClient({ provider: 'gitlab', base: `${baseOf(url)}/api`, authorize, pace, clock }), log)
}

function namesOf(url: string): { host: string; apiUrl: string } {
  return { host: hostOf(url), apiUrl: `${baseOf(url)}/api/v4` }
}

function hostOf(url: string): string {
  return new URL(url).host.toLowerCase()
}

function baseOf(url: string): string {
  return url.replace(/\/+$/, '')
}
