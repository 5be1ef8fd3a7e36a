import { createHmac, hash } from 'node:crypto'
import type { Configuration } from 'openid-client'
import { ssoFailed } from '../../errors/sign-in.ts'
import { MINUTE_MS } from '../../platform/clock.ts'
import type { ApiError } from '../../platform/http/api-error.ts'
import { getNetwork } from '../../platform/http/connection-limits.ts'
import type { Services } from '../../services.ts'
import { findOwnProvider, findServerProvider, type OpenIssuer, openIssuer } from './open-provider.ts'
import { type IdClaims, type Provider, toOwnPath } from './provider.ts'
import { deleteSignInRequest, insertSignInRequest, type SignInRequest } from './single-sign-on.store.ts'

/** Who has signed in at a provider, and the request that started it. */
export type Authenticated = { provider: Provider; claims: IdClaims; request: SignInRequest }

/** How the browser comes back: the query of the callback, and the secret of the browser. */
type Callback = { query: URLSearchParams; browser: string | null }

/**
 * Completes a sign-in: takes the request of the state, exchanges the code, and verifies the ID
 * token (OpenID Connect Core §3.1.3; RFC 9207 for `iss`). Throws 400 `sso_failed` and 502.
 */
export async function completeSignIn(services: Services, { query, browser }: Callback): Promise<Authenticated> {
  const { sql, clock, config } = services
  const state = query.get('state')
  if (state === null || browser === null) throw ssoFailed('The sign-in was not started in this browser.')
  const keys = { state_sha256: hashText(state), browser_sha256: hashText(browser) }
  const request = await deleteSignInRequest(sql, keys, clock.now())
  if (request === null) throw ssoFailed('The sign-in was completed already, has expired, or was started elsewhere.')
  const { org_id } = request
  const provider = org_id === null ? await findServerProvider(services) : await findOwnProvider(services, org_id)
  // The settings may have changed in the meantime.
  if (provider === null || provider.issuer !== request.issuer) throw createSettingsChangedError()
  const url = new URL(`${buildCallbackUrl(config.baseUrl)}?${query}`)
  const issuer = await openIssuer(services, provider)
  try {
    return { provider, request, claims: await exchange(issuer, { url, state, request, provider }) }
  } catch (error) {
    // The error describes the protocol. It contains neither the code nor tokens.
    services.log.info({ issuer: provider.issuer, reason: describeReason(error) }, 'A single sign-on failed')
    throw ssoFailed('The identity provider did not confirm the sign-in. Start again.')
  }
}

type Exchange = { url: URL; state: string; request: SignInRequest; provider: Provider }

/** Some providers list a method that they do not accept for this client. The code stays valid. */
async function exchange({ client, configure, methods }: OpenIssuer, exchanged: Exchange): Promise<IdClaims> {
  const [first = 'client_secret_basic', second] = methods
  try {
    return await readClaims(client, configure(first), exchanged)
  } catch (error) {
    const isRefused = error instanceof client.ResponseBodyError && error.error === 'invalid_client'
    if (!isRefused || second === undefined) throw error
    return readClaims(client, configure(second), exchanged)
  }
}

async function readClaims(
  client: OpenIssuer['client'],
  configuration: Configuration,
  { url, state, request, provider }: Exchange,
): Promise<IdClaims> {
  const tokens = await client.authorizationCodeGrant(configuration, url, {
    expectedState: state,
    expectedNonce: request.nonce,
    pkceCodeVerifier: request.code_verifier,
    idTokenExpected: true,
    ...(request.confirms_user_id !== null && { maxAge: CONFIRMATION_SECONDS_MAX }),
  })
  const claims = tokens.claims() as IdClaims
  const isComplete = 'email' in claims && (provider.role_claim === null || provider.role_claim in claims)
  if (isComplete || !configuration.serverMetadata().userinfo_endpoint) return claims
  return { ...(await client.fetchUserInfo(configuration, tokens.access_token, claims.sub)), ...claims }
}

function describeReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code, error: answered } = error as Error & { code?: string; error?: string }
  return [error.message, code, answered].filter((part) => typeof part === 'string').join('; ')
}

export function createSettingsChangedError(): ApiError {
  return ssoFailed('The settings of single sign-on have changed.')
}

/** How long a person may take at the provider. */
export const REQUEST_MS_MAX = 10 * MINUTE_MS
/** How recent the authentication at the provider must be when it confirms a session. */
const CONFIRMATION_SECONDS_MAX = 300

/** What a sign-in at a provider is for. */
export type SignInPurpose = {
  next: string | undefined
  /** The user of the present session, who confirms who they are. */
  userId: string | null
  /** Whether the identity is linked to the account of this user. */
  links: boolean
}

type Start = SignInPurpose & {
  /** A secret of the browser, which it sends again when it comes back. */
  browser: string
  /** The address of the browser. */
  ip: string
}

/**
 * Starts a sign-in at a provider: authorization code with PKCE, state and nonce. Returns the
 * address to which the browser goes. Throws 502 `identity_provider_unavailable`.
 */
export async function startSignIn(services: Services, provider: Provider, start: Start): Promise<URL> {
  const { sql, clock, config, addressKey } = services
  const { client, configure } = await openIssuer(services, provider)
  const [state, nonce, verifier] = [client.randomState(), client.randomNonce(), client.randomPKCECodeVerifier()]
  const now = clock.now()
  const request = {
    state_sha256: hashText(state),
    browser_sha256: hashText(start.browser),
    org_id: provider.org_id,
    issuer: provider.issuer,
    nonce,
    code_verifier: verifier,
    next: toOwnPath(start.next, config.baseUrl),
    confirms_user_id: start.userId,
    links: start.links,
    network_hmac: createHmac('sha256', addressKey).update(getNetwork(start.ip)).digest(),
  }
  await insertSignInRequest(sql, request, { now, expiresAt: new Date(now.getTime() + REQUEST_MS_MAX) })
  return client.buildAuthorizationUrl(configure('client_secret_basic'), {
    redirect_uri: buildCallbackUrl(config.baseUrl),
    scope: 'openid email profile',
    state,
    nonce,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(start.userId !== null && { prompt: 'login', max_age: String(CONFIRMATION_SECONDS_MAX) }),
  })
}

export function buildCallbackUrl(baseUrl: string): string {
  return `${baseUrl}/app/api/sso/callback`
}

function hashText(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}
