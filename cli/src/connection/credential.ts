import { UsageError } from '../program/command.ts'
import { storedKey } from './stored-logins.ts'

/** Returns a token for the API. It is called for every request, so that a token never expires. */
export type TokenSource = () => Promise<string>

/**
 * The credential for a server: SHIPLOCK_KEY, SHIPLOCK_ID_TOKEN, an OIDC token of GitHub Actions, or
 * the key that `shiplock login` stored, in this order. Throws a `UsageError` if there is none.
 */
export function findCredential(env: NodeJS.ProcessEnv, url: string, audience: string): TokenSource {
  const given = env.SHIPLOCK_KEY?.trim() || env.SHIPLOCK_ID_TOKEN?.trim()
  if (given) return async () => given
  const { ACTIONS_ID_TOKEN_REQUEST_URL: requestUrl, ACTIONS_ID_TOKEN_REQUEST_TOKEN: requestToken } = env
  if (requestUrl && requestToken) return gitHubTokens({ requestUrl, requestToken, audience })
  const key = storedKey(env, url)
  if (key !== null) return async () => key
  if (env.GITHUB_ACTIONS) {
    throw new UsageError('There is no credential: give the job the permission "id-token: write", or set SHIPLOCK_KEY')
  }
  throw new UsageError(`There is no credential: set SHIPLOCK_KEY, or run shiplock login --url ${url}`)
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
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${requestToken}`, accept: 'application/json' },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  if (!response.ok) throw new Error(`GitHub gives no OIDC token (HTTP status ${response.status})`)
  const { value } = (await response.json()) as { value?: unknown }
  if (typeof value !== 'string') throw new Error('GitHub gives no OIDC token (unexpected answer)')
  return value
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
