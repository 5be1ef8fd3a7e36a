import { Type } from 'typebox'
import type { Clock } from '../../../platform/clock.ts'
import type { HostCredentials } from '../../code-host.ts'
import type { Pace } from '../../kit/api-fetch.ts'
import { CredentialSession, handleRefusedClient, type SignIn } from '../../kit/credential-session.ts'
import { Maybe, readAs, Text } from '../../kit/payload.ts'
import { RestClient } from '../../kit/rest-client.ts'
import type { BitbucketAddresses } from './client.ts'

type SessionOptions = {
  addresses: BitbucketAddresses
  /** Null if the connection has no credentials. */
  read: () => Promise<HostCredentials | null>
  pace: Pace
  clock: Clock
}

/** Bitbucket's tokens live two hours. A token is renewed before its end. */
const RENEWED_MS_BEFORE = 120_000
const LIFETIME_SECONDS = 3600

/** A session with an access token, or with the client credentials of an OAuth consumer. */
export function openSession({ addresses, read, pace, clock }: SessionOptions): CredentialSession {
  const signIn = async (credentials: HostCredentials): Promise<SignIn> =>
    credentials.type === 'token'
      ? { authorization: `Bearer ${credentials.token}`, lifetimeMs: Number.POSITIVE_INFINITY }
      : sendSignIn(credentials, addresses, pace, clock)
  return new CredentialSession({ read, signIn, clock })
}

const TokenAnswer = Type.Object({ access_token: Text, expires_in: Maybe(Type.Number()) })

/** The token of an OAuth consumer (RFC 6749, section 4.4). */
async function sendSignIn(
  { client_id, client_secret }: Extract<HostCredentials, { type: 'client' }>,
  { tokens: { origin: base, path } }: BitbucketAddresses,
  pace: Pace,
  clock: Clock,
): Promise<SignIn> {
  const authorization = `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`
  const rest = new RestClient({ provider: 'bitbucket', base, authorize: async () => ({ authorization }), pace, clock })
  const body = new URLSearchParams({ grant_type: 'client_credentials' })
  const answer = await rest.request({ method: 'POST', path, body }).catch(handleRefusedClient)
  const { access_token: token, expires_in: seconds } = readAs(TokenAnswer, answer.body)
  const lifetimeMs = (seconds ?? LIFETIME_SECONDS) * 1000 - RENEWED_MS_BEFORE
  return { authorization: `Bearer ${token}`, lifetimeMs }
}
