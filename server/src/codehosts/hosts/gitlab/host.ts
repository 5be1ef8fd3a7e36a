import type { Clock } from '../../../platform/clock.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import type { Log } from '../../../platform/log.ts'
import { type CodeHost, type HostClient, type HostCredentials, HostUnavailable } from '../../code-host.ts'
import { ClientCache, clientKey } from '../../kit/client-cache.ts'
import { impatient, PACE, type Pace } from '../../kit/pace.ts'
import { RestClient } from '../../kit/rest-client.ts'
import { CredentialsRefused } from '../../kit/rest-error.ts'
import { act } from './actions.ts'
import { vulnerabilityReads } from './alerts.ts'
import { changeReads, mergeRequestReads } from './changes.ts'
import { GitlabApi, readConnectedAccount, Session } from './client.ts'
import { readCommits } from './commits.ts'
import { deploymentReads } from './deployments.ts'
import { createTranslate } from './events.ts'
import { projectReads } from './repositories.ts'
import { pipelineReads } from './runs.ts'
import { readDeliveryHead, verifyDelivery, webhooks } from './webhook.ts'

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

/** GitLab, gitlab.com or a server of one's own. Each process has one. */
export function createGitlabHost(options: GitlabHostOptions): CodeHost {
  const { url, readCredentials, clock, pace = PACE } = options
  const clients = new ClientCache()
  return {
    connects: 'account',
    webhooks: { verify: verifyDelivery, readHead: readDeliveryHead, translate: createTranslate(clock) },
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
    ...projectReads(session),
    ...pipelineReads(session),
    ...deploymentReads(session),
    ...vulnerabilityReads(session),
    ...mergeRequestReads(session),
    ...changeReads(session),
    readCommits: readCommits(session.api),
    act: act(session),
    ...webhooks(session),
  }
}

function openApi({ url, log, clock }: GitlabHostOptions, readToken: () => Promise<string>, pace: Pace): GitlabApi {
  const authorize = async () => ({ 'private-token': await readToken() })
  return new GitlabApi(new RestClient({ provider: 'gitlab', base: `${baseOf(url)}/api`, authorize, pace, clock }), log)
}

/** Read for each request, so that a new token is used at once. */
function tokenOf(credentials: HostCredentials | null): string {
  if (credentials === null) throw new HostUnavailable('The connection has no credentials.')
  if (credentials.type === 'token') return credentials.token
  throw new ApiError(400, 'invalid_credentials', 'GitLab needs an access token.')
}

function refused(error: unknown): never {
  if (!(error instanceof CredentialsRefused)) throw error
  throw new ApiError(400, 'invalid_credentials', 'GitLab does not accept the token.')
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
