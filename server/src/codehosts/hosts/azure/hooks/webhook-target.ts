import { createHash } from 'node:crypto'

/** The name in the basic credentials of webhooks. Only the password is a secret. */
export const WEBHOOK_USER = 'shiplock'

const MARK_CHARS = 8

/**
 * Tells a secret from an earlier one, where Azure DevOps does not show it. It is a short part of
 * the digest of 32 random bytes.
 */
export function secretMark(secret: string): string {
  return createHash('sha256').update(secret).digest('hex').slice(0, MARK_CHARS)
}
