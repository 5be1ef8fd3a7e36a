import { hash, type KeyObject, randomBytes } from 'node:crypto'
import { MINUTE_MS } from '../../platform/clock.ts'
import { openToken, sealToken } from '../../platform/crypto/token.ts'
import { isLoopback } from '../../platform/loopback.ts'
import type { ChallengeUse, UsedChallenge } from './passkey.store.ts'

/** Who passkeys are for (WebAuthn §4, "relying party"), and the pages that may use them. */
type RelyingParty = { id: string; name: string; origins: string[] }

/** Browsers accept no IP address, so that passkeys on loopback are for `localhost`. */
export function getRelyingParty(baseUrl: string): RelyingParty {
  const { hostname } = new URL(baseUrl)
  return { id: isLoopback(hostname) ? 'localhost' : hostname, name: 'Shiplock', origins: getOwnOrigins(baseUrl) }
}

/** How long a browser may take to answer a challenge. */
export const CHALLENGE_MS_MAX = 10 * MINUTE_MS

type SealedChallenge = ChallengeUse & { expires: number; nonce: string }

/**
 * A challenge states what it is for, and is signed. Nothing is stored before it is answered, so
 * that nobody can use up a number of challenges that others need.
 */
export function createChallenge(key: KeyObject, use: ChallengeUse, now: Date): string {
  const expires = now.getTime() + CHALLENGE_MS_MAX
  return sealToken(key, { ...use, expires, nonce: randomBytes(16).toString('base64url') })
}

/** A challenge of ours that a browser has answered, as WebAuthn writes it, in base64url. */
export type OpenChallenge = UsedChallenge & { text: string }

/**
 * The challenge that a response of a browser answers; null if the response is malformed, and if the
 * challenge is not ours, has expired or is for something else.
 */
export function openChallenge(
  key: KeyObject,
  clientDataJson: string,
  { purpose, user_id }: ChallengeUse,
  now: Date,
): OpenChallenge | null {
  const text = parseChallenge(clientDataJson)
  const opened = text && openToken<SealedChallenge>(key, Buffer.from(text, 'base64url').toString())
  if (!text || !opened || opened.purpose !== purpose || opened.user_id !== user_id) return null
  if (opened.expires <= now.getTime()) return null
  const expires_at = new Date(opened.expires)
  return { purpose, user_id, text, challenge_sha256: hash('sha256', text, 'buffer'), expires_at }
}

function parseChallenge(clientDataJson: string): string | null {
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
