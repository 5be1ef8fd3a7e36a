import { createHmac, timingSafeEqual } from 'node:crypto'
import type { HostWebhooks } from '../../code-host.ts'

/**
 * Checks `X-Hub-Signature` over the bytes of the body in constant time (Atlassian, "Manage
 * webhooks"). False without a target, and for every method but `sha256`.
 */
export const verify: HostWebhooks['verify'] = async (body, headers, target) => {
  if (target === null || target.secret === '') return false
  const given = Buffer.from(String(headers['x-hub-signature'] ?? ''))
  const expected = Buffer.from(`sha256=${createHmac('sha256', target.secret).update(body).digest('hex')}`)
  return given.length === expected.length && timingSafeEqual(given, expected)
}
