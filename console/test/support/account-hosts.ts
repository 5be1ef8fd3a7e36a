import {
  type CodeHost,
  type CodeHosts,
  type HostCredentials,
  type HostInstallation,
  HostUnavailable,
} from '../../../server/src/codehosts/code-host.ts'
import { ApiError } from '../../../server/src/platform/http/api-error.ts'

const NAMES = { gitlab: 'gitlab.com', bitbucket: 'bitbucket.org', azure: 'dev.azure.com' }

export type AccountHosts = {
  codeHosts: CodeHosts
  /** The credentials that were tried, with the provider and the account. */
  tried: { provider: string; account: string; credentials: HostCredentials | null }[]
}

/**
 * Code hosts whose accounts are connected with credentials. Every account exists but `nobody`, the
 * secret `wrong` is refused, and `down` cannot be reached.
 */
export function startAccountHosts(): AccountHosts {
  const tried: AccountHosts['tried'] = []
  const hosts = Object.entries(NAMES).map(([provider, host]) => {
    const codeHost = {
      connects: 'account',
      host: async () => host,
      readInstallation: async (account: string, credentials: HostCredentials | null) => {
        tried.push({ provider, account, credentials })
        return readAccount(account, credentials)
      },
      redeliveries: null,
    }
    return [provider, codeHost as unknown as CodeHost] as const
  })
  return { codeHosts: new Map(hosts), tried }
}

function readAccount(account: string, credentials: HostCredentials | null): HostInstallation | null {
  const secret = credentials?.type === 'token' ? credentials.token : credentials?.client_secret
  if (secret === 'wrong')
    throw new ApiError(400, 'invalid_credentials', 'The code host does not accept the credentials.')
  if (account === 'down') throw new HostUnavailable('The code host cannot be reached.')
  if (account === 'nobody') return null
  const login = account.replace(/^id-of-/, '')
  return {
    id: `id-of-${login}`,
    account: { id: `id-of-${login}`, login, type: 'group' },
    repositories: 'all',
    suspended: false,
  }
}
