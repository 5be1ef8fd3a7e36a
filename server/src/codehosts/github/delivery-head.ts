import { isUtf8 } from 'node:buffer'
import type { DeliveryHead } from '../code-host.ts'

type Headers = Readonly<Record<string, string | string[] | undefined>>

const DELIVERY_ID = /^[\x21-\x7e]{1,100}$/
const NAME = /^[\w.-]{1,100}$/

/**
 * Null if the body is not JSON, or `X-GitHub-Event` or `X-GitHub-Delivery` is missing or malformed.
 */
export function readDeliveryHead(body: Buffer, headers: Headers): DeliveryHead | null {
  const { 'x-github-delivery': id, 'x-github-event': event } = headers
  if (typeof id !== 'string' || !DELIVERY_ID.test(id)) return null
  if (typeof event !== 'string' || !NAME.test(event)) return null
  const text = isUtf8(body) ? body.toString() : ''
  const payload = parseJson(text)
  if (payload === undefined) return null
  const action = at(payload, 'action')
  return {
    id,
    event,
    action: typeof action === 'string' && NAME.test(action) ? action : null,
    installation_id: idAt(payload, 'installation', 'id'),
    lane: laneOf(event, payload) ?? `delivery:${id}`,
    payload: withoutSecret(event, payload) ?? text,
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * The payload with `***` for the value of a secret; null if it has none. GitHub's description of
 * this event has no value, but the same object has one in answers of the API.
 */
function withoutSecret(event: string, payload: unknown): string | null {
  const secret = event.startsWith('secret_scanning_alert') ? at(at(payload, 'alert'), 'secret') : null
  if (typeof secret !== 'string' || secret === '') return null
  return JSON.stringify(payload, (_, value) => (typeof value === 'string' ? value.replaceAll(secret, '***') : value))
}

/** The object that a delivery is about; null if the payload does not name one. */
function laneOf(event: string, payload: unknown): string | null {
  const repository = idAt(payload, 'repository', 'id')
  return (
    ownLane(event, payload, repository) ??
    lane('repository', repository) ??
    lane('installation', idAt(payload, 'installation', 'id'))
  )
}

function ownLane(event: string, payload: unknown, repository: string | null): string | null {
  if (event === 'workflow_job') return lane('run', idAt(payload, 'workflow_job', 'run_id'))
  if (event === 'workflow_run' || event === 'deployment_review') return lane('run', idAt(payload, 'workflow_run', 'id'))
  if (event.startsWith('deployment')) return lane('deployment', idAt(payload, 'deployment', 'id'))
  if (event === 'check_run' || event === 'check_suite') return lane(event, idAt(payload, event, 'id'))
  if (event.startsWith('pull_request')) {
    const number = idAt(payload, 'pull_request', 'number') ?? idAt(payload, 'number')
    return lane('pull', repository, number)
  }
  const [, type] = /^(code_scanning|dependabot|secret_scanning)_alert/.exec(event) ?? []
  return type === undefined ? null : lane(`alert:${type}`, repository, idAt(payload, 'alert', 'number'))
}

function lane(object: string, ...ids: (string | null)[]): string | null {
  return ids.includes(null) ? null : [object, ...ids].join(':')
}

/** An id or a number at this path of the payload, in decimal digits. */
function idAt(payload: unknown, ...path: string[]): string | null {
  const found = path.reduce(at, payload)
  const isId = (typeof found === 'number' && Number.isSafeInteger(found)) || typeof found === 'string'
  return isId && /^\d{1,20}$/.test(`${found}`) ? `${found}` : null
}

function at(object: unknown, name: string): unknown {
  return typeof object === 'object' && object !== null ? (object as Record<string, unknown>)[name] : undefined
}
