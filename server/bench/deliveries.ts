import { createHmac, generateKeyPairSync, randomUUID } from 'node:crypto'
import type { Message } from './load.ts'

export const WEBHOOK_SECRET = 'the secret of the benchmark'
export const INSTALLATION = '4711'

/** The settings of an App at GitHub. Its key is never used. */
export function githubEnvironment(): Record<string, string> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return {
    SHIPLOCK_GITHUB_APP_ID: '1',
    SHIPLOCK_GITHUB_PRIVATE_KEY: privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
    SHIPLOCK_GITHUB_WEBHOOK_SECRET: WEBHOOK_SECRET,
  }
}

/** About as long as GitHub's payloads of `workflow_job`, 8,000 bytes. */
const BODY = JSON.stringify({
  action: 'created',
  starred_at: '2026-01-31T12:00:00Z',
  repository: { id: 1001, full_name: 'acme/shop', description: 'x'.repeat(7800) },
  installation: { id: Number(INSTALLATION) },
})
const SIGNATURE = `sha256=${createHmac('sha256', WEBHOOK_SECRET).update(BODY).digest('hex')}`

/** The request that delivers a new event, of a kind that is ignored. */
export function newDelivery(): Message {
  const headers = {
    'content-type': 'application/json',
    'x-github-event': 'star',
    'x-github-delivery': randomUUID(),
    'x-hub-signature-256': SIGNATURE,
  }
  return { headers, body: BODY }
}
