import { createHmac, timingSafeEqual } from 'node:crypto'
import type { HostWebhooks } from '../code-host.ts'
import type { ReadAppCredentials } from './app-credentials.ts'

/**
 * Checks `X-Hub-Signature-256` over the bytes of the body, in constant time (GitHub, "Validating
 * webhook deliveries"). The signature may be made with any of the secrets. False without secrets.
 * `@octokit/webhooks-methods` verifies text only: bytes that are not UTF-8 decode to the text of
 * other bytes, whose signature would be accepted.
 */
export function createVerify(readCredentials: ReadAppCredentials): HostWebhooks['verify'] {
  return async (body, headers) => {
    const given = Buffer.from(String(headers['x-hub-signature-256'] ?? ''))
    const secrets = (await readCredentials())?.webhook_secrets ?? []
    return secrets.map((secret) => isSignature(given, secret, body)).includes(true)
  }
}

function isSignature(given: Buffer, secret: string, body: Buffer): boolean {
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`)
  return given.length === expected.length && timingSafeEqual(given, expected)
}
