import { UsageError } from '@shiplock/command-line/options'
import { ConnectionError } from '@shiplock/network/connection-error'
import { networkFetch } from '@shiplock/network/network-fetch'
import { NetworkError } from '@shiplock/sdk'
import { storedKey } from './stored-logins.ts'

/** Returns a token for the API. It is called for every request, so that a token never expires. */
export type TokenSource = () => Promise<string>

/**
 * The credential for a server: SHIPLOCK_KEY, SHIPLOCK_ID_TOKEN, an OIDC token of GitHub Actions, or
 * the key that `shiplock login` stored, in this order. Throws a `UsageError` if there is none.
 */
export function findCredential(env: NodeJS.ProcessEnv, url: string, audience: string): TokenSource {
  const variable = ['SHIPLOCK_KEY', 'SHIPLOCK_ID_TOKEN'].find((name) => env[name]?.trim())
  if (variable !== undefined) return given(variable, env[variable] ?? '')
  const { ACTIONS_ID_TOKEN_REQUEST_URL: requestUrl, ACTIONS_ID_TOKEN_REQUEST_TOKEN: requestToken } = env
  if (requestUrl && requestToken) return gitHubTokens({ requestUrl, requestToken, audience })
  const key = storedKey(env, url)
  if (key !== null) return async () => key
  if (env.GITHUB_ACTIONS) {
    throw new UsageError('There is no credential: give the job the permission "id-token: write", or set SHIPLOCK_KEY')
  }
  throw new UsageError(`There is no credential: set SHIPLOCK_KEY, or run shiplock login --url ${url}`)
}

/** The error for a wrong value does not show it, because logs keep what a command prints. */
function given(variable: string, value: string): TokenSource {
  const credential = value.trim()
  if (/^[\x21-\x7e]+$/.test(credential)) return async () => credential
  throw new UsageError(`${variable} must not contain spaces, line breaks or characters outside of ASCII`)
}

type Request = { requestUrl: string; requestToken: string; audience: string }

/**
 * Requests a token from GitHub, and a new one shortly before it expires:
 * https://docs.github.com/en/actions/reference/security/oidc.
 */
function gitHubTokens(request: Request): TokenSource {
  let token: Promise<string> | null = null
  let expiresAt = 0
  return async () => {
    if (token === null || Date.now() > expiresAt - EARLY_MS) {
      token = requestToken(request)
      expiresAt = Number.POSITIVE_INFINITY
      token.then(
        (text) => (expiresAt = expiryOf(text)),
        () => (token = null),
      )
    }
    return token
  }
}

const EARLY_MS = 60_000
const TIMEOUT_MS = 30_000

async function requestToken({ requestUrl, requestToken, audience }: Request): Promise<string> {
  const url = new URL(requestUrl)
  url.searchParams.set('audience', audience)
  const { status, text } = await get(url, { authorization: `Bearer ${requestToken}`, accept: 'application/json' })
  const refusal = `GitHub gives no OIDC token (HTTP status ${status})`
  if (status === 429 || status >= 500) throw new NetworkError(refusal)
  if (status !== 200) throw new Error(refusal)
  return tokenIn(text)
}

/** The client tries again after a `NetworkError`. */
async function get(url: URL, headers: Record<string, string>): Promise<{ status: number; text: string }> {
  try {
    const response = await networkFetch(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) })
    return { status: response.status, text: await response.text() }
  } catch (cause) {
    const reason = cause instanceof ConnectionError ? ` (${cause.message})` : ''
    throw new NetworkError(`The OIDC token cannot be requested from ${url.host}${reason}`, { cause })
  }
}

function tokenIn(text: string): string {
  try {
    const { value } = JSON.parse(text)
    if (typeof value === 'string' && value !== '') return value
  } catch {}
  throw new Error('GitHub gives no OIDC token (unexpected answer)')
}

/** The claim `exp`, in milliseconds; 0 if the token has none. */
function expiryOf(token: string): number {
  try {
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    return Number(claims.exp) * 1000 || 0
  } catch {
    return 0
  }
}
