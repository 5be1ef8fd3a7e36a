import { createHash, type KeyObject } from 'node:crypto'
import type { Clock } from '../../../platform/clock.ts'
import { sealText } from '../../../platform/crypto/sealed-text.ts'
import type { DeliveryHead, DeliveryHeaders, HostWebhooks } from '../../code-host.ts'
import { formatLane, getField, isDeliveryId, isEventName, isSameText, parseBody } from '../../kit/webhook-delivery.ts'
import { CHECK_LABEL } from './actions.ts'

/**
 * Checks the basic credentials (RFC 7617) of a service hook or a check, in constant time. Azure
 * DevOps does not sign what it sends.
 */
export const hasSignature: HostWebhooks['hasSignature'] = ({ authorization }, target) => {
  if (target === null || typeof authorization !== 'string') return false
  const [, encoded = ''] = /^Basic ([A-Za-z0-9+/=]{1,1000})$/i.exec(authorization) ?? []
  const credentials = Buffer.from(encoded, 'base64').toString()
  const password = credentials.slice(credentials.indexOf(':') + 1)
  return credentials.includes(':') && isSameText(password, target.secret)
}

export const verify: HostWebhooks['verify'] = async (_body, headers, target) => hasSignature(headers, target)

/**
 * Reads what must be known of a service hook's event, or of the request of a check. The id of an
 * event stays the same when Azure DevOps sends it again.
 */
export function createReadHead(sealingKey: KeyObject, clock: Clock): HostWebhooks['readHead'] {
  return (body, headers, target) => {
    const text = body.toString()
    // A check may state everything in its headers.
    const payload = text.trim() === '' ? {} : parseBody(body)
    if (payload === undefined || target === null) return null
    const { installation_id } = target
    const event = getField(payload, 'eventType')
    if (typeof event === 'string')
      return isEventName(event) ? { ...parseEventHead(event, payload, text), installation_id } : null
    const request = parseCheckRequest(payload, headers)
    if (request === null) return null
    const { fields, token } = request
    const { ProjectId = null, BuildId = null, PlanId } = fields
    // The token of the job is sealed before anything is stored.
    const sealed = { Token: sealText(sealingKey, CHECK_LABEL, token), RequestedAt: clock.now().toISOString() }
    return {
      id: checkId(fields),
      event: CHECK_EVENT,
      action: null,
      installation_id,
      lane: objectLane('run', ProjectId, BuildId) ?? `check:${PlanId}`,
      payload: JSON.stringify({ ...fields, ...sealed }),
    }
  }
}

function parseEventHead(event: string, payload: unknown, text: string): Omit<DeliveryHead, 'installation_id'> {
  const stated = getField(payload, 'id')
  const id = isDeliveryId(stated) ? stated : `azure_${createHash('sha256').update(text).digest('hex')}`
  const status = getField(payload, 'resource', 'status')
  return {
    id,
    event,
    action: isEventName(status) ? status : null,
    lane: eventLane(event, payload) ?? `delivery:${id}`,
    payload: text,
  }
}

/** The object that an event is about; null if the payload does not name one. */
function eventLane(event: string, payload: unknown): string | null {
  const repository = textAt(payload, 'resource', 'repository', 'id')
  if (event.startsWith('git.pullrequest.'))
    return objectLane('pull', repository, textAt(payload, 'resource', 'pullRequestId'))
  if (event === 'git.push') return objectLane('repository', repository)
  if (event.startsWith('git.repo.'))
    return objectLane('repository', repository ?? textAt(payload, 'resource', 'repositoryId'))
  const project = textAt(payload, 'resourceContainers', 'project', 'id')
  if (event.startsWith('ms.vss-alerts.')) return objectLane('alert', project, textAt(payload, 'resource', 'alertId'))
  const run = event === 'build.complete' ? ['resource', 'id'] : ['resource', 'run', 'id']
  return objectLane('run', project, textAt(payload, ...run))
}

/** GUIDs are compared without case. */
function objectLane(object: string, ...ids: (string | null)[]): string | null {
  return formatLane(object, ...ids)?.toLowerCase() ?? null
}

/** A GUID or a number at this path of the payload. */
function textAt(payload: unknown, ...path: string[]): string | null {
  const found = getField(payload, ...path)
  const text = typeof found === 'number' ? String(found) : found
  return typeof text === 'string' && /^[\w-]{1,64}$/.test(text) ? text : null
}

/** The event that a check's request is stored as. */
export const CHECK_EVENT = 'invoke-rest-api-check'

/**
 * What an "Invoke REST API" check states, in its headers or its body. docs/azure-devops.md lists
 * them.
 */
const FIELDS = [
  'ProjectId',
  'HubName',
  'PlanId',
  'JobId',
  'TimelineId',
  'TaskInstanceId',
  'BuildId',
  'RepositoryId',
  'SourceBranch',
  'SourceVersion',
  'StageAttempt',
  'Environment',
] as const
const TOKEN = 'AuthToken'
const NAMED = ['PlanId', 'JobId', 'TaskInstanceId', 'BuildId', 'StageAttempt'] as const

type CheckFields = { [Field in (typeof FIELDS)[number]]?: string }

/** The fields of a check's request; null if it is not one. */
function parseCheckRequest(body: unknown, headers: DeliveryHeaders): { fields: CheckFields; token: string } | null {
  const valueAt = (name: string) => stated(inBody(body, name)) ?? stated(headers[name.toLowerCase()])
  const token = valueAt(TOKEN)
  const fields = Object.fromEntries(FIELDS.flatMap((name) => [[name, valueAt(name)]]).filter(([, value]) => value))
  return token === null || !fields.PlanId || !fields.TaskInstanceId ? null : { fields, token }
}

/** A variable that Azure Pipelines does not know stays as it was written: `$(name)`. */
function stated(value: unknown): string | null {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && text !== '' && !/^\$\(.*\)$/.test(text) ? text : null
}

/** Names are compared without case, as in headers. */
function inBody(body: unknown, name: string): unknown {
  if (typeof body !== 'object' || body === null) return undefined
  return Object.entries(body).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1]
}

/** A check that asks again for the same attempt of a stage has the same id. */
function checkId(fields: CheckFields): string {
  const named = NAMED.map((name) => fields[name]?.toLowerCase() ?? '')
  return `check_${createHash('sha256').update(named.join(' ')).digest('hex')}`
}
