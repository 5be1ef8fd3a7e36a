import { createHmac, randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { CodeHost, TranslatedDelivery } from '../../src/codehosts/code-host.ts'
import { createVerify, hasSignature, readHead } from '../../src/codehosts/hosts/github/webhook.ts'
import type { TestApi } from './api.ts'
import { hostRepository, hostRun } from './host-objects.ts'

export const SECRET = 'the webhook secret'
export const INSTALLATION = '4711'

/**
 * A code host with GitHub's signatures and headers, and simple payloads: `workflow_run` becomes one
 * run, whose commit message is `message` of the payload; a payload with `unfit` does not fit. With
 * `owner`, the run is of a repository of another account.
 */
export function webhookHost(secrets: readonly string[] = [SECRET]): Map<string, CodeHost> {
  const credentials = { app_id: '1', private_key: '', webhook_secrets: secrets, api_url: 'https://api.github.com' }
  const webhooks: CodeHost['webhooks'] = {
    hasSignature,
    verify: createVerify(async () => credentials),
    readHead,
    translate,
  }
  return new Map([['github', { connects: 'app', webhooks, host: async () => 'github.com' } as unknown as CodeHost]])
}

type TestPayload = {
  unfit?: true
  message?: string
  workflow_run?: { id: number }
  owner?: { id: string; login: string }
}

function translate(event: string, payload: unknown): TranslatedDelivery {
  const { unfit, message = '', workflow_run, owner } = payload as TestPayload
  if (unfit) throw new Error('workflow_run.id must be an integer')
  if (event !== 'workflow_run' || !workflow_run) return { type: 'unknown' }
  const foreign = owner && {
    repository: hostRepository({ id: '2002', owner_id: owner.id, full_name: `${owner.login}/shop` }),
  }
  const data = hostRun({ id: `${workflow_run.id}`, commit: { sha: 'a'.repeat(40), message }, ...foreign })
  return { type: 'events', events: [{ kind: 'run', data }] }
}

/** The payload of a run. `message` tells deliveries of one run apart. */
export function runPayload(runId: number, message: string, more: object = {}): string {
  return JSON.stringify({ workflow_run: { id: runId }, message, installation: { id: Number(INSTALLATION) }, ...more })
}

export function sign(body: string | Buffer, secret = SECRET): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
}

export type WebhookOptions = {
  id?: string
  event?: string
  secret?: string
  /** Replaces headers; undefined removes one. */
  headers?: Record<string, string | undefined>
}

/** The headers of a signed delivery. */
export function webhookHeaders(body: string | Buffer, options: WebhookOptions = {}): Record<string, string> {
  const headers: Record<string, string | undefined> = {
    'content-type': 'application/json',
    'x-github-event': options.event ?? 'workflow_run',
    'x-github-delivery': options.id ?? randomUUID(),
    'x-hub-signature-256': sign(body, options.secret),
    ...options.headers,
  }
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >
}

/** Sends a delivery, by default to GitHub's address. */
export async function sendWebhook(
  api: Pick<TestApi, 'url'>,
  body: string | Buffer,
  options: WebhookOptions & { path?: string } = {},
): Promise<{ status: number; text: string }> {
  const sent = request(`${api.url}${options.path ?? '/webhooks/github'}`, {
    method: 'POST',
    headers: webhookHeaders(body, options),
  })
  sent.end(body)
  return new Promise((resolve, reject) => {
    sent.once('error', reject)
    sent.once('response', async (response) => resolve({ status: response.statusCode ?? 0, text: await text(response) }))
  })
}
