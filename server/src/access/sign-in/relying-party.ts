import { hash } from 'node:crypto'
import { MINUTE_MS } from '../../platform/clock.ts'
import { isLoopback } from '../../platform/loopback.ts'

/** Who passkeys are for (WebAuthn §4, "relying party"), and the pages that may use them. */
type RelyingParty = { id: string; name: string; origins: string[] }

/** Browsers accept no IP address, so that passkeys on loopback are for `localhost`. */
export function getRelyingParty(baseUrl: string): RelyingParty {
  const { hostname } = new URL(baseUrl)
  return { id: isLoopback(hostname) ? 'localhost' : hostname, name: 'Shiplock', origins: getOwnOrigins(baseUrl) }
}

/** How long a browser may take to answer a challenge. */
export const CHALLENGE_MS_MAX = 10 * MINUTE_MS

/** The hash that is stored. */
export function hashChallenge(challenge: string): Buffer {
  return hash('sha256', challenge, 'buffer')
}

/** The challenge that a response of a browser answers, or null if the response is malformed. */
export function parseChallenge(clientDataJson: string): string | null {
  try {
    const { challenge } = JSON.parse(Buffer.from(clientDataJson, 'base64url').toString('utf8'))
    return typeof challenge === 'string' ? challenge : null
  } catch {
    return null
  }
}

/**
 * The handle by which authenticators know a user: the bytes of the user's id (WebAuthn §14.6.1).
 */
export function encodeUserHandle(userId: string): Buffer<ArrayBuffer> {
  return Buffer.from(userId.replaceAll('-', ''), 'hex')
}

/** The names of this machine that browsers treat as secure. */
const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]']

/** The origins of the pages of this server. On loopback, every name is the same server. */
export function getOwnOrigins(baseUrl: string): string[] {
  const { protocol, port, hostname, origin } = new URL(baseUrl)
  if (!isLoopback(hostname)) return [origin]
  return [origin, ...LOOPBACK_NAMES.map((name) => new URL(`${protocol}//${name}:${port}`).origin)]
}
