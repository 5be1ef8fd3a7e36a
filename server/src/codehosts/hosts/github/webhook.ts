import { type Static, Type } from 'typebox'
import type {
  DeliveryHead,
  DeliveryHeaders,
  FailedDelivery,
  HostClient,
  HostRedeliveries,
  HostWebhooks,
} from '../../code-host.ts'
import { PageWalk } from '../../kit/page-walk.ts'
import { Id, Maybe, readAs, Text, Timestamp } from '../../kit/payload.ts'
import { acceptRefusal } from '../../kit/rest-error.ts'
import {
  formatLane,
  getField,
  isDeliveryId,
  isEventName,
  isSignature,
  isSignedBy,
  parseBody,
} from '../../kit/webhook-delivery.ts'
import { type GithubApi, parseValues } from './client.ts'
import type { ReadAppCredentials } from './credentials.ts'

export const hasSignature: HostWebhooks['hasSignature'] = (headers) => isSignature(headers['x-hub-signature-256'])

/**
 * Checks `X-Hub-Signature-256` over the bytes of the body, in constant time (GitHub, "Validating
 * webhook deliveries"). The signature may be made with any of the secrets. False without secrets.
 * The text of a body would not do: bytes that are not UTF-8 decode to the text of other bytes.
 */
export function createVerify(readCredentials: ReadAppCredentials): HostWebhooks['verify'] {
  return async (body, headers) => {
    const secrets = (await readCredentials())?.webhook_secrets ?? []
    return secrets.map((secret) => isSignedBy(secret, body, headers['x-hub-signature-256'])).includes(true)
  }
}

/**
 * Null if the body is not JSON, or `X-GitHub-Event` or `X-GitHub-Delivery` is missing or malformed.
 */
export function readHead(body: Buffer, headers: DeliveryHeaders): DeliveryHead | null {
  const { 'x-github-delivery': id, 'x-github-event': event } = headers
  const payload = parseBody(body)
  if (!isDeliveryId(id) || !isEventName(event) || payload === undefined) return null
  const action = getField(payload, 'action')
  return {
    id,
    event,
    action: isEventName(action) ? action : null,
    installation_id: idAt(payload, 'installation', 'id'),
    lane: parseLane(event, payload) ?? `delivery:${id}`,
    payload: withoutSecret(event, payload) ?? body.toString(),
  }
}

/**
 * The payload with `***` for the value of a secret; null if it has none. GitHub's description of
 * this event has no value, but the same object has one in answers of the API.
 */
function withoutSecret(event: string, payload: unknown): string | null {
  const secret = event.startsWith('secret_scanning_alert') ? getField(payload, 'alert', 'secret') : null
  if (typeof secret !== 'string' || secret === '') return null
  return JSON.stringify(payload, (_, value) => (typeof value === 'string' ? value.replaceAll(secret, '***') : value))
}

/** The object that a delivery is about; null if the payload does not name one. */
function parseLane(event: string, payload: unknown): string | null {
  const repository = idAt(payload, 'repository', 'id')
  return (
    ownLane(event, payload, repository) ??
    formatLane('repository', repository) ??
    formatLane('installation', idAt(payload, 'installation', 'id'))
  )
}

function ownLane(event: string, payload: unknown, repository: string | null): string | null {
  if (event === 'workflow_job') return formatLane('run', idAt(payload, 'workflow_job', 'run_id'))
  if (event === 'workflow_run' || event === 'deployment_review')
    return formatLane('run', idAt(payload, 'workflow_run', 'id'))
  if (event.startsWith('deployment')) return formatLane('deployment', idAt(payload, 'deployment', 'id'))
  if (event === 'check_run' || event === 'check_suite') return formatLane(event, idAt(payload, event, 'id'))
  if (event.startsWith('pull_request')) {
    const number = idAt(payload, 'pull_request', 'number') ?? idAt(payload, 'number')
    return formatLane('pull', repository, number)
  }
  const [, type] = /^(code_scanning|dependabot|secret_scanning)_alert/.exec(event) ?? []
  return type === undefined ? null : formatLane(`alert:${type}`, repository, idAt(payload, 'alert', 'number'))
}

/** An id or a number at this path of the payload, in decimal digits. */
function idAt(payload: unknown, ...path: string[]): string | null {
  const found = getField(payload, ...path)
  const isId = (typeof found === 'number' && Number.isSafeInteger(found)) || typeof found === 'string'
  return isId && /^\d{1,20}$/.test(`${found}`) ? `${found}` : null
}

/** The App has one webhook for all installations. */
export const webhookActions: Pick<HostClient, 'ensureWebhook' | 'removeWebhooks'> = {
  ensureWebhook: async () => {},
  removeWebhooks: async () => {},
}

/** GitHub keeps the deliveries of an App for some days. `api` sends requests as the App. */
export function createRedeliveries(api: GithubApi): HostRedeliveries {
  return {
    async listFailed(since) {
      const attempts = await fetchAttempts(api, since)
      const delivered = new Set(attempts.filter(isDelivered).map(({ guid }) => guid))
      const failed = new Map<string, FailedDelivery>()
      for (const { id, guid, event, delivered_at } of attempts) {
        if (delivered.has(guid) || failed.has(guid)) continue
        failed.set(guid, { id: String(id), delivery_id: guid, event, delivered_at: new Date(delivered_at) })
      }
      return [...failed.values()]
    },

    repeat: (id) => api.send(`POST ${DELIVERIES}/{delivery_id}/attempts`, { delivery_id: id }),
  }
}

const DELIVERIES = '/app/hook/deliveries'

/** One try to deliver. All tries of a delivery have the same `guid`. */
const Attempt = Type.Object({
  id: Id,
  guid: Text,
  event: Text,
  delivered_at: Timestamp,
  status: Maybe(Text),
  status_code: Maybe(Type.Integer()),
})

type Attempt = Static<typeof Attempt>

/** The tries since a time, newest first. */
async function fetchAttempts(api: GithubApi, since: Date): Promise<Attempt[]> {
  const attempts: Attempt[] = []
  const walk = new PageWalk('deliveries')
  for (let next: string | null | undefined; next !== null; ) {
    const options = next ? { next } : {}
    const page = await walk.read(() => acceptRefusal(api.requestPage(`GET ${DELIVERIES}`, {}, options), 'any'))
    if (page === null || page === 'not_modified') break
    const read = api.parseItems(parseValues(page.data), (attempt) => readAs(Attempt, attempt))
    const recent = read.filter((attempt) => new Date(attempt.delivered_at) >= since)
    attempts.push(...recent)
    next = recent.length < read.length ? null : page.next
  }
  return attempts
}

function isDelivered({ status, status_code: code }: Attempt): boolean {
  return typeof code === 'number' && code > 0 ? code >= 200 && code < 300 : status === 'OK'
}
