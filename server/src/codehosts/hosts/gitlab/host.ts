import { hostRoleTooLow } from '../../../errors/codehosts.ts'
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
import { RestClient } from '../../kit/rest-client.ts'
import { createActionSenders } from './actions.ts'
import { createAlertReads } from './alerts.ts'
import { createChangeReads } from './changes.ts'
import { canConnect, fetchConnectedAccount, GitlabApi, Session } from './client.ts'
import { createCommitReads } from './commits.ts'
import { handleRefusedToken, requireToken } from './credentials.ts'
import { createDeploymentReads } from './deployments.ts'
import { createParseDelivery } from './events.ts'
import { createRepositoryReads } from './repositories.ts'
import { createRunReads } from './runs.ts'
import { createWebhookActions, hasSignature, readHead, verify } from './webhook.ts'

type GitlabHostOptions = {
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
    webhooks: { hasSignature, verify, readHead, translate: createParseDelivery(clock) },
    host: async () => parseHost(url),
    async readInstallation(id, credentials) {
      const api = openApi(options, async () => requireToken(credentials), pace)
      const account = await fetchConnectedAccount(api, id).catch(handleRefusedToken)
      if (account !== null && !(await canConnect(api, account).catch(handleRefusedToken)))
        throw hostRoleTooLow(`The token needs the role Maintainer in the group ${account.login}.`)
      return account && { id: account.id, account, repositories: 'all', suspended: false }
    },
    open(access) {
      const { id, installation_id: accountId } = access
      const readToken = async () => requireToken(await readCredentials(id))
      return clients.get(formatClientKey(access), () => {
        const api = openApi(options, readToken, access.impatient ? toImpatientPace(pace) : pace)
        const apiUrl = `${parseBase(url)}/api/v4`
        return createClient(new Session({ host: parseHost(url), apiUrl, api, accountId, clock }))
      })
    },
    /** GitLab tries again itself, and cannot list what failed for all webhooks. */
    redeliveries: null,
  }
}

function createClient(session: Session): HostClient {
  return {
    ...createRepositoryReads(session),
    ...createRunReads(session),
    ...createDeploymentReads(session),
    ...createAlertReads(session),
    ...createChangeReads(session),
    ...createCommitReads(session),
    act: createDispatcher(createActionSenders(session)),
    ...createWebhookActions(session),
  }
}

function openApi({ url, log, clock }: GitlabHostOptions, readToken: () => Promise<string>, pace: Pace): GitlabApi {
  const authorize = async () => ({ 'private-token': await readToken() })
  return new GitlabApi(
    new RestClient({ provider: 'gitlab', base: `${parseBase(url)}/api`, authorize, pace, clock }),
    log,
  )
}

function parseHost(url: string): string {
  return new URL(url).host.toLowerCase()
}

function parseBase(url: string): string {
  return url.replace(/(?<!\/)\/+$/, '')
}
