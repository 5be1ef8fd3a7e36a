import { hash } from 'node:crypto'
import { MINUTE_MS } from '../../platform/clock.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import { getChallengeLimit } from '../sign-in/attempt-limit.ts'
import { reserveAttempt } from '../sign-in/take-attempt.ts'
import { findProvider } from './find-provider.ts'
import { openIssuer } from './open-issuer.ts'
import { toOwnPath } from './provider.ts'
import { insertSignInRequest } from './sign-in-request.store.ts'

/** How long a person may take at the provider. */
export const REQUEST_MS_MAX = 10 * MINUTE_MS
/** How recent the authentication at the provider must be when it confirms a session. */
export const CONFIRMATION_SECONDS_MAX = 300

type Start = {
  /** The slug of an organization. */
  org: string | undefined
  next: string | undefined
  /** A secret of the browser, which it sends again when it comes back. */
  browser: string
  address: string
  /** The user of the present session, who confirms who they are. */
  userId: string | null
}

/**
 * Starts a sign-in at a provider: authorization code with PKCE, state and nonce. Returns the
 * address to which the browser goes. Throws 404, 429 and 502 `identity_provider_unavailable`.
 */
export async function startSignIn(services: Services, start: Start): Promise<URL> {
  const { sql, clock, config } = services
  await reserveAttempt(services, getChallengeLimit(start.address))
  const provider = await findProvider(services, start.org ?? null)
  if (provider === null) throw createNotFoundError('single sign-on')
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

export function hashText(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}
