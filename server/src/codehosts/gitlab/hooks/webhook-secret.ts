import { createHmac, timingSafeEqual } from 'node:crypto'
import type { HostWebhooks } from '../../code-host.ts'

/** The form of GitLab's signing tokens: 32 bytes. */
const SIGNING_PREFIX = 'whsec_'

/** The key of signatures is made from the secret of the connection, so only one is stored. */
function signingKey(secret: string): Buffer {
  return createHmac('sha256', secret).update('gitlab webhook signature').digest()
}

export function signingToken(secret: string): string {
  return `${SIGNING_PREFIX}${signingKey(secret).toString('base64')}`
}

/**
 * Checks the signature over the bytes of the body (GitLab 19.0 and later, Standard Webhooks), else
 * `X-Gitlab-Token`, in constant time. A webhook that signs has no token, so a signature cannot be
 * left out. The age of a signature is not limited: a repeated delivery has no effect.
 */
export const verifyDelivery: HostWebhooks['verify'] = async (body, headers, target) => {
  if (target === null || target.secret === '') return false
  const { 'webhook-signature': signatures, 'x-gitlab-token': token } = headers
  if (typeof signatures !== 'string') return isSame(String(token ?? ''), target.secret)
  const { 'webhook-id': id, 'webhook-timestamp': time } = headers
  const signed = createHmac('sha256', signingKey(target.secret)).update(`${id}.${time}.`).update(body)
  const expected = `v1,${signed.digest('base64')}`
  return signatures
    .split(' ')
    .map((given) => isSame(given, expected))
    .includes(true)
}

/** Values of different lengths are compared by their digests, so that the time says nothing. */
function isSame(given: string, expected: string): boolean {
  const [one, other] = [given, expected].map((text) => createHmac('sha256', 'compare').update(text).digest())
  return timingSafeEqual(one as Buffer, other as Buffer)
}
