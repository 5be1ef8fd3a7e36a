import { createHash, type KeyObject } from 'node:crypto'
import { sealText } from '../../../../platform/crypto/sealed-text.ts'
import type { DeliveryHeaders } from '../../../code-host.ts'
import { CHECK_LABEL } from '../actions.ts'

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

export type CheckFields = { [Field in (typeof FIELDS)[number]]?: string }
/** `Token` is sealed. */
export type CheckPayload = CheckFields & { Token: string; RequestedAt: string }

/** The fields of a check's request; null if it is not one. */
export function readCheckRequest(
  body: unknown,
  headers: DeliveryHeaders,
): { fields: CheckFields; token: string } | null {
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

/** The token of the job is sealed before anything is stored. */
export function checkPayload(
  { fields, token }: { fields: CheckFields; token: string },
  sealingKey: KeyObject,
  now: Date,
): CheckPayload {
  return { ...fields, Token: sealText(sealingKey, CHECK_LABEL, token), RequestedAt: now.toISOString() }
}

/** A check that asks again for the same attempt of a stage has the same id. */
export function checkId(fields: CheckFields): string {
  const named = NAMED.map((name) => fields[name]?.toLowerCase() ?? '')
  return `check_${createHash('sha256').update(named.join(' ')).digest('hex')}`
}
