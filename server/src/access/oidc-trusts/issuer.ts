import { isLoopback } from '../../platform/loopback.ts'
import type { TrustProvider } from './token-job.ts'

const ISSUER_CHARS_MAX = 500

/**
 * Whether a text can be an issuer (OpenID Connect Discovery §3): an https URL without credentials,
 * query and fragment. http is for issuers in allowed networks, which the form does not tell.
 */
export function isIssuer(text: string): boolean {
  return text.length <= ISSUER_CHARS_MAX && !/[\s?#\\]/.test(text) && isKeySetUrl(text)
}

/** The address of an issuer's discovery document (OpenID Connect Discovery §4.1). */
export function buildDiscoveryUrl(issuer: string): string {
  return `${issuer.replace(/(?<!\/)\/+$/, '')}/.well-known/openid-configuration`
}

/** Whether a text has the form of an address from which the keys of an issuer can be fetched. */
export function isKeySetUrl(text: unknown): text is string {
  const url = typeof text === 'string' ? URL.parse(text) : null
  return url !== null && ['https:', 'http:'].includes(url.protocol) && url.username === '' && url.password === ''
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
