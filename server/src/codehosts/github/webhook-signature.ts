import { createHmac, timingSafeEqual } from 'node:crypto'

type Headers = Readonly<Record<string, string | string[] | undefined>>

/**
 * Checks `X-Hub-Signature-256` over the bytes of the body, in constant time (GitHub, "Validating
 * webhook deliveries"). The signature may be made with any of the secrets. False without secrets.
 */
export function verifySignature(secrets: readonly string[], body: Buffer, headers: Headers): boolean {
  const given = Buffer.from(String(headers['x-hub-signature-256'] ?? ''))
  const matches = secrets.map((secret) => {
    const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`)
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
  return matches.includes(true)
}
