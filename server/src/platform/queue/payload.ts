import type { TSchema } from 'typebox'

/**
 * The schema of a payload, with the type that it describes. Plain JSON Schema, because a command
 * that only queues jobs would take a third longer if it loaded TypeBox.
 */
export type PayloadSchema<Payload> = TSchema & {
  readonly [keyword: string]: unknown
  /** Never set: it ties the schema to its type. */
  readonly describes?: (payload: Payload) => void
}

export type PayloadOf<Schema> = Schema extends PayloadSchema<infer Payload> ? Payload : never

type Field<Value> = { readonly type: string; readonly enum?: readonly Value[] }
type OptionalField<Value> = { readonly optional: Field<Value> }
type Fields = Record<string, Field<unknown> | OptionalField<unknown>>

type ValuesOf<F extends Fields> = {
  [Name in keyof F as F[Name] extends OptionalField<unknown> ? never : Name]: F[Name] extends Field<infer V> ? V : never
} & {
  [Name in keyof F as F[Name] extends OptionalField<unknown> ? Name : never]?: F[Name] extends OptionalField<infer V>
    ? V
    : never
}
/** Shown as one type. */
type Flat<T> = { [Name in keyof T]: T[Name] }

/** Mostly an id. */
export const text: Field<string> = { type: 'string' }
export const integer: Field<number> = { type: 'integer' }

export function OneOf<const Value extends string>(...values: readonly Value[]): Field<Value> {
  return { type: 'string', enum: values }
}

export function Optional<Value>(field: Field<Value>): OptionalField<Value> {
  return { optional: field }
}

export function definePayload<F extends Fields>(fields: F): PayloadSchema<Flat<ValuesOf<F>>> {
  const entries = Object.entries(fields)
  const properties = entries.map(([name, field]) => [name, 'optional' in field ? field.optional : field])
  const required = entries.filter(([, field]) => !('optional' in field)).map(([name]) => name)
  return { type: 'object', required, properties: Object.fromEntries(properties) }
}
