import { isUtf8 } from 'node:buffer'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import type { DeliveryHead, DeliveryHeaders, DeliveryTarget } from '../../code-host.ts'
import { Maybe, Text } from '../../kit/payload.ts'
import { bareUuid } from './client/uuid.ts'
import { pipelinesOf } from './events/pipeline-spans.ts'

const DELIVERY_ID = /^[\x21-\x7e]{1,100}$/
const EVENT = /^([\w-]{1,50}):([\w-]{1,50})$/

/**
 * Null if the body is not JSON, or `X-Event-Key` or `X-Request-UUID` is missing or malformed. The
 * part of the event after the colon is the action.
 */
export function readDeliveryHead(
  body: Buffer,
  headers: DeliveryHeaders,
  target: DeliveryTarget | null,
): DeliveryHead | null {
  const { 'x-request-uuid': id, 'x-event-key': event } = headers
  if (typeof id !== 'string' || !DELIVERY_ID.test(id)) return null
  const action = typeof event === 'string' ? EVENT.exec(event)?.[2] : undefined
  if (typeof event !== 'string' || action === undefined) return null
  const text = isUtf8(body) ? body.toString() : ''
  const payload = parseJson(text)
  if (payload === undefined) return null
  const installation_id = target?.installation_id ?? null
  return { id, event, action, installation_id, lane: laneOf(event, payload) ?? `delivery:${id}`, payload: text }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const Named = Type.Object({
  repository: Type.Object({ uuid: Text }),
  pullrequest: Maybe(Type.Object({ id: Type.Integer() })),
  commit_status: Maybe(Type.Object({ commit: Maybe(Type.Object({ hash: Text })) })),
})

/** The object that a delivery is about; null if the payload does not name one. */
function laneOf(event: string, payload: unknown): string | null {
  if (event === 'pipeline:span_created') return pipelineLane(payload)
  if (!Value.Check(Named, payload)) return null
  const { repository, pullrequest, commit_status } = payload
  const id = bareUuid(repository.uuid)
  if (pullrequest) return `pull:${id}:${pullrequest.id}`
  return commit_status?.commit ? `checks:${id}:${commit_status.commit.hash}` : `repository:${id}`
}

function pipelineLane(payload: unknown): string | null {
  try {
    const [first] = pipelinesOf(payload)
    return first === undefined ? null : `run:${first.pipeline}`
  } catch {
    return null
  }
}
