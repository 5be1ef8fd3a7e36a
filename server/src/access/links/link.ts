import { hash } from 'node:crypto'
import { DAY_MS, HOUR_MS } from '../../platform/clock.ts'
import { createRandomBase62, hasChecksum, withChecksum } from '../../platform/crypto/token.ts'
import { toBrowserAddress } from '../../platform/loopback.ts'

/** What a link does: it makes the first Org admin, a member, or new ways to sign in. */
export type LinkKind = 'setup' | 'invitation' | 'reset'

/** How long a link of each kind can be used (console.md §1). */
export const LINK_MS: Record<LinkKind, number> = { setup: HOUR_MS, invitation: 7 * DAY_MS, reset: HOUR_MS }

const PREFIX = 'shl_link_'
const SECRET_CHARS = 40

export function createLinkToken(): string {
  return withChecksum(PREFIX + createRandomBase62(SECRET_CHARS))
}

export function isLinkToken(text: string): boolean {
  return text.startsWith(PREFIX) && text.length === PREFIX.length + SECRET_CHARS + 6 && hasChecksum(text)
}

/** The hash that is stored. */
export function hashLinkToken(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

/** Browsers do not send the part after `#` to servers, so that no log contains the token. */
export function buildLinkAddress(baseUrl: string, token: string): string {
  return `${toBrowserAddress(baseUrl)}/join#token=${token}`
}
