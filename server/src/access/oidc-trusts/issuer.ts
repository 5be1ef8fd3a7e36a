import { isLoopback } from '../../platform/loopback.ts'
import type { TrustProvider } from './token-job.ts'

const ISSUER_CHARS_MAX = 500

/**
 * Whether a text can be an issuer (OpenID Connect Discovery §3): an https URL without credentials,
 * query and fragment. http is accepted on this machine only.
 */
export function isIssuer(text: string): boolean {
  if (text.length > ISSUER_CHARS_MAX || !URL.canParse(text) || /[\s?#\\]/.test(text)) return false
  return isFetchable(new URL(text), true)
}

/** The address of an issuer's discovery document (OpenID Connect Discovery §4.1). */
export function buildDiscoveryUrl(issuer: string): string {
  return `${issuer.replace(/(?<!\/)\/+$/, '')}/.well-known/openid-configuration`
}

/**
 * Whether the keys of an issuer may be fetched from a URL: from any https host, and over http only
 * from this machine, if the issuer is on it, too.
 */
export function isKeySetUrl(text: unknown, issuer: string): text is string {
  if (typeof text !== 'string' || !URL.canParse(text)) return false
  return isFetchable(new URL(text), new URL(issuer).protocol === 'http:')
}

function isFetchable(url: URL, acceptsLoopback: boolean): boolean {
  if (url.username !== '' || url.password !== '') return false
  return url.protocol === 'https:' || (acceptsLoopback && url.protocol === 'http:' && isLoopback(url.hostname))
}

const KNOWN_ISSUERS: readonly [RegExp, TrustProvider][] = [
  [/^https:\/\/token\.actions\.(?:githubusercontent\.com|[a-z0-9-]+\.ghe\.com)(?:\/|$)/, 'github'],
  [/^https:\/\/[^/]+\/_services\/token(?:\/|$)/, 'github'],
  [/^https:\/\/gitlab\.com\/?$/, 'gitlab'],
  [/^https:\/\/api\.bitbucket\.org\/2\.0\/workspaces\/[^/]+\/pipelines-config\/identity\/oidc$/, 'bitbucket'],
  [/^https:\/\/vstoken\.dev\.azure\.com\/[^/]+$/, 'azure'],
]

/** The provider of a well-known issuer. */
export function getProviderOfIssuer(issuer: string): TrustProvider | null {
  return KNOWN_ISSUERS.find(([form]) => form.test(issuer))?.[1] ?? null
}

/**
 * Whether an issuer is on this machine, where tests have theirs. It may stand for any code host.
 */
export function isOnThisMachine(issuer: string): boolean {
  return isLoopback(new URL(issuer).hostname)
}
