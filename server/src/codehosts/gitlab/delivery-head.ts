import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import type { DeliveryHead, HostWebhooks } from '../code-host.ts'

const DELIVERY_ID = /^[\x21-\x7e]{1,100}$/
const NAME = /^[\w.-]{1,100}$/

/**
 * Null if the body is not JSON or does not name its event. `Idempotency-Key` (GitLab 17.4 and
 * later) is the same in all tries of a delivery; before it, the id is made from the body.
 */
export const readDeliveryHead: HostWebhooks['readHead'] = (body, { 'idempotency-key': key }, target) => {
  const payload = parseJson(isUtf8(body) ? body.toString() : '')
  const event = at(payload, 'object_kind') ?? at(payload, 'event_name')
  if (typeof event !== 'string' || !NAME.test(event)) return null
  const id = typeof key === 'string' && DELIVERY_ID.test(key) ? key : hashOf(body)
  return {
    id,
    event,
    action: actionOf(payload),
    installation_id: target?.installation_id ?? null,
    lane: laneOf(event, payload) ?? `delivery:${id}`,
    payload: JSON.stringify(payload, withoutSecrets),
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function hashOf(body: Buffer): string {
  return `sha256:${createHash('sha256').update(body).digest('hex')}`
}

/** The variables of pipelines, and code in which secrets were found, can contain secrets. */
const SECRET_FIELDS = ['variables', 'raw_source_code_extract', 'raw_metadata']

function withoutSecrets(name: string, value: unknown): unknown {
  return SECRET_FIELDS.includes(name) ? undefined : value
}

function actionOf(payload: unknown): DeliveryHead['action'] {
  const attributes = at(payload, 'object_attributes')
  const named = [at(attributes, 'action'), at(payload, 'build_status'), at(payload, 'status'), at(attributes, 'status')]
  const action = named.find((name) => typeof name === 'string' && NAME.test(name))
  return typeof action === 'string' ? action : null
}

/** The object that a delivery is about; null if the payload does not name one. */
function laneOf(event: string, payload: unknown): string | null {
  const attributes = at(payload, 'object_attributes')
  const project = idOf(at(at(payload, 'project'), 'id')) ?? idOf(at(payload, 'project_id'))
  const own: Readonly<Record<string, string | null>> = {
    pipeline: lane('run', idOf(at(attributes, 'id'))),
    build: lane('run', idOf(at(payload, 'pipeline_id'))),
    deployment: lane('deployment', idOf(at(payload, 'deployment_id'))),
    merge_request: lane('pull', project, idOf(at(attributes, 'iid'))),
    note: lane('pull', project, idOf(at(at(payload, 'merge_request'), 'iid'))),
  }
  return own[event] ?? lane('repository', project)
}

function lane(object: string, ...ids: (string | null)[]): string | null {
  return ids.includes(null) ? null : [object, ...ids].join(':')
}

function idOf(value: unknown): string | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? String(value) : null
}

function at(object: unknown, name: string): unknown {
  return typeof object === 'object' && object !== null ? (object as Record<string, unknown>)[name] : undefined
}
