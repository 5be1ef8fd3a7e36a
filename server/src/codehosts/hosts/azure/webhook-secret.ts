import { createHash, timingSafeEqual } from 'node:crypto'
import type { HostWebhooks } from '../../code-host.ts'

/**
 * Checks the basic credentials (RFC 7617) of a service hook or a check, in constant time. Azure
 * DevOps does not sign what it sends.
 */
export const verify: HostWebhooks['verify'] = async (_body, { authorization }, target) => {
  if (target === null || typeof authorization !== 'string') return false
  const [, encoded = ''] = /^Basic ([A-Za-z0-9+/=]{1,1000})$/i.exec(authorization) ?? []
  const credentials = Buffer.from(encoded, 'base64').toString()
  const password = credentials.slice(credentials.indexOf(':') + 1)
  return credentials.includes(':') && timingSafeEqual(digest(password), digest(target.secret))
}

/** Digests have one length, whatever was sent. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
