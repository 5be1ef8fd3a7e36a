import { type Static, type TSchema, Type } from 'typebox'
import { Value } from 'typebox/value'
import { encodePointerToken } from '../../platform/http/errors.ts'
import type { Log } from '../../platform/log.ts'

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

/** Reads a part of an answer. Null: it is none of those that are wanted. */
export type Parse<Item> = (value: unknown) => Item | null

/** Parses the parts of the answers of a host. The APIs of all hosts extend it. */
export class AnswerParser {
  readonly log: Log
  readonly #host: string

  /** `host` is the name of the host in the log. */
  constructor(host: string, log: Log) {
    this.#host = host
    this.log = log
  }

  /** An item that cannot be read is left out, so that it does not hide the others. */
  parseItems<Item>(values: readonly unknown[], parse: Parse<Item>): Item[] {
    return values.flatMap((value) => this.parseItem(value, parse) ?? [])
  }

  /** Null for a value that cannot be read, with a warning. */
  parseItem<Item>(value: unknown, parse: Parse<Item>): Item | null {
    try {
      return parse(value)
    } catch (error) {
      this.log.warn({ reason: (error as Error).message }, `A part of an answer of ${this.#host} cannot be read`)
      return null
    }
  }
}
