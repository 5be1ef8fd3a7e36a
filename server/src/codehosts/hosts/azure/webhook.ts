import { isUtf8 } from 'node:buffer'
import { createHash, type KeyObject } from 'node:crypto'
import type { Clock } from '../../../platform/clock.ts'
import type { DeliveryHead, HostWebhooks } from '../../code-host.ts'
import { CHECK_EVENT, type CheckFields, checkId, checkPayload, readCheckRequest } from './events/check-request.ts'

const DELIVERY_ID = /^[\x21-\x7e]{1,100}$/
const NAME = /^[\w.-]{1,100}$/

/**
 * Reads what must be known of a service hook's event, or of the request of a check. The id of an
 * event stays the same when Azure DevOps sends it again.
 */
export function createReadHead(sealingKey: KeyObject, clock: Clock): HostWebhooks['readHead'] {
  return (body, headers, target) => {
    const text = isUtf8(body) ? body.toString() : null
    const payload = text === null ? undefined : parseJson(text)
    if (text === null || payload === undefined || target === null) return null
    const installation_id = target.installation_id
    const event = at(payload, 'eventType')
    if (typeof event === 'string')
      return NAME.test(event) ? { ...eventHead(event, payload, text), installation_id } : null
    const request = readCheckRequest(payload, headers)
    if (request === null) return null
    return {
      id: checkId(request.fields),
      event: CHECK_EVENT,
      action: null,
      installation_id,
      lane: checkLane(request.fields),
      payload: JSON.stringify(checkPayload(request, sealingKey, clock.now())),
    }
  }
}

/** A check may state everything in its headers. */
function parseJson(text: string): unknown {
  try {
    return text.trim() === '' ? {} : JSON.parse(text)
  } catch {
    return undefined
  }
}

function eventHead(event: string, payload: unknown, text: string): Omit<DeliveryHead, 'installation_id'> {
  const stated = at(payload, 'id')
  const isId = typeof stated === 'string' && DELIVERY_ID.test(stated)
  const id = isId ? stated : `azure_${createHash('sha256').update(text).digest('hex')}`
  const status = at(payload, 'resource', 'status')
  return {
    id,
    event,
    action: typeof status === 'string' && NAME.test(status) ? status : null,
    lane: laneOf(event, payload) ?? `delivery:${id}`,
    payload: text,
  }
}

/** The object that an event is about; null if the payload does not name one. */
function laneOf(event: string, payload: unknown): string | null {
  const repository = textAt(payload, 'resource', 'repository', 'id')
  if (event.startsWith('git.pullrequest.'))
    return lane('pull', repository, textAt(payload, 'resource', 'pullRequestId'))
  if (event === 'git.push') return lane('repository', repository)
  const project = textAt(payload, 'resourceContainers', 'project', 'id')
  if (event.startsWith('ms.vss-alerts.')) return lane('alert', project, textAt(payload, 'resource', 'alertId'))
  const run = event === 'build.complete' ? ['resource', 'id'] : ['resource', 'run', 'id']
  return lane('run', project, textAt(payload, ...run))
}

function checkLane({ ProjectId, BuildId, PlanId }: CheckFields): string {
  return lane('run', ProjectId ?? null, BuildId ?? null) ?? `check:${PlanId}`
}

function lane(object: string, ...ids: (string | null)[]): string | null {
  return ids.includes(null) ? null : [object, ...ids].join(':').toLowerCase()
}

/** A GUID or a number at this path of the payload. */
function textAt(payload: unknown, ...path: string[]): string | null {
  const found = at(payload, ...path)
  const text = typeof found === 'number' ? String(found) : found
  return typeof text === 'string' && /^[\w-]{1,64}$/.test(text) ? text : null
}

function at(payload: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>(
    (object, name) =>
      typeof object === 'object' && object !== null ? (object as Record<string, unknown>)[name] : undefined,
    payload,
  )
}
