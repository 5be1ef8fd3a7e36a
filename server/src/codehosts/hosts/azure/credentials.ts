import { Type } from 'typebox'
import type { Clock } from '../../../platform/clock.ts'
import type { HostCredentials } from '../../code-host.ts'
import type { Pace } from '../../kit/api-fetch.ts'
import { CredentialSession, handleRefusedClient, type SignIn } from '../../kit/credential-session.ts'
import { readAs, Text } from '../../kit/payload.ts'
import { encodePath, RestClient } from '../../kit/rest-client.ts'
import { CredentialsRefused } from '../../kit/rest-error.ts'

/** The id of Azure DevOps in Microsoft Entra, which is the same in every directory. */
const SCOPE = '499b84ac-1321-427f-aa17-267ca6975798/.default'
/** Access tokens are renewed this long before they expire. */
const RENEWAL_MS = 5 * 60_000

type SessionOptions = {
  /** Null if the connection has none. */
  read: () => Promise<HostCredentials | null>
  entraUrl: string
  pace: Pace
  clock: Clock
}

/** A session with a personal access token, or as a service principal of Microsoft Entra. */
export function openSession({ read, entraUrl: base, pace, clock }: SessionOptions): CredentialSession {
  const entra = new RestClient({ provider: 'azure', base, authorize: async () => ({}), pace, clock })
  const signIn = async (credentials: HostCredentials): Promise<SignIn> =>
    credentials.type === 'token'
      ? {
          authorization: `Basic ${Buffer.from(`:${credentials.token}`).toString('base64')}`,
          lifetimeMs: Number.POSITIVE_INFINITY,
        }
      : sendSignIn(entra, credentials)
  return new CredentialSession({ read, signIn, clock })
}

const TokenAnswer = Type.Object({ access_token: Text, expires_in: Type.Number() })

/** OAuth 2.0 client credentials (RFC 6749 section 4.4). */
async function sendSignIn(
  entra: RestClient,
  { client_id, client_secret, tenant_id }: Extract<HostCredentials, { type: 'client' }>,
): Promise<SignIn> {
  if (tenant_id === null) throw new CredentialsRefused('A service principal needs the id of its directory (tenant).')
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret, scope: SCOPE })
  const path = encodePath`/${tenant_id}/oauth2/v2.0/token`
  const answer = await entra.request({ method: 'POST', path, body }).catch(handleRefusedClient)
  const { access_token: token, expires_in: seconds } = readAs(TokenAnswer, answer.body)
  return { authorization: `Bearer ${token}`, lifetimeMs: seconds * 1000 - RENEWAL_MS }
}
