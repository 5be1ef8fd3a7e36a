import { type Static, type TSchema, Type } from 'typebox'
import { Value } from 'typebox/value'
import { encodePointerToken } from '../../platform/http/errors.ts'

/** Most ids of hosts are numbers. Beyond 2^53 a parsed number is not exact, so it is refused. */
export const Id = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
export const Text = Type.String()
export const Timestamp = Type.String({ format: 'date-time' })

/** Times are texts, in some webhooks seconds since 1970. */
export const TextOrSeconds = Type.Union([Id, Timestamp])

export function parseTime(time: Static<typeof TextOrSeconds>): Date {
  return new Date(typeof time === 'number' ? time * 1000 : time)
}

/** A field that may be missing or null: many are, in the payloads of older versions. */
export function Maybe<Schema extends TSchema>(schema: Schema) {
  return Type.Optional(Type.Union([schema, Type.Null()]))
}

/**
 * Returns a value that has the form of `schema`. Schemas name only the fields that we need, and
 * allow others. Throws an `Error` that names the field as a JSON pointer (RFC 6901).
 */
export function readAs<Schema extends TSchema>(schema: Schema, value: unknown): Static<Schema> {
  if (Value.Check(schema, value)) return value as Static<Schema>
  // A wrong field of an optional object is reported for the field and for the object: the longest
  // pointer names the cause.
  const errors = Value.Errors(schema, value).map(describe)
  const deepest = errors.reduce((found, error) => (error.depth > found.depth ? error : found))
  throw new Error(deepest.text)
}

type SchemaError = ReturnType<typeof Value.Errors>[number]

function describe(error: SchemaError): { text: string; depth: number } {
  const missing = error.keyword === 'required' ? error.params.requiredProperties[0] : undefined
  const pointer = missing === undefined ? error.instancePath : `${error.instancePath}/${encodePointerToken(missing)}`
  const problem = missing === undefined ? error.message : 'is missing'
  return { text: `${pointer || 'The payload'} ${problem}`, depth: pointer.split('/').length }
}

/** A text without the characters that PostgreSQL cannot store; null for an empty one. */
export function parseText(value: string | null | undefined): string | null {
  return value?.replaceAll('\0', '').toWellFormed() || null
}

export function parseDate(value: string | null | undefined): Date | null {
  return value ? new Date(value) : null
}
