import { type Static, type TProperties, type TSchema, Type } from 'typebox'

/** A JSON object without further fields. */
export function Closed<Fields extends TProperties>(
  fields: Fields,
  options: { $id?: string; description?: string } = {},
) {
  return Type.Object(fields, { ...options, additionalProperties: false })
}

export function Nullable<Schema extends TSchema>(schema: Schema, options: { description?: string } = {}) {
  return Type.Union([schema, Type.Null()], options)
}

export function OneOf<const Values extends readonly string[]>(
  values: Values,
  options: { description?: string; default?: Values[number] } = {},
) {
  return Type.Unsafe<Values[number]>({ type: 'string', enum: [...values], ...options })
}

/** An RFC 3339 time. It comes in with an offset and leaves in UTC with milliseconds. */
export const Timestamp = Type.String({ format: 'date-time', examples: ['2026-01-31T12:00:00.000Z'] })

/** `{ data: <object> }`: every successful single-object response. */
export function Envelope<Schema extends TSchema>(schema: Schema) {
  return Closed({ data: schema })
}

/** The list envelope (specification, "Common list response"). */
export function ListEnvelope<Schema extends TSchema>(schema: Schema) {
  return Closed({
    data: Type.Array(schema),
    next_cursor: Nullable(Type.String({ description: 'Null on the last page; pass it back as `cursor`.' })),
    meta: Closed({
      since: Type.String({ format: 'date-time', description: 'Effective lower bound.' }),
      until: Type.String({ format: 'date-time', description: 'Effective upper bound.' }),
      retention_clamped: Type.Boolean({
        description: "True when `since` was moved forward to the plan's data-retention window.",
      }),
    }),
  })
}

/** Path parameter of runs, alerts, deployments and changes. */
export const ItemId = Type.String({ pattern: '^[A-Za-z0-9._:-]{1,128}$' })

export const ErrorResponse = Closed(
  {
    error: Closed({
      code: Type.String(),
      message: Type.String(),
      details: Type.Record(Type.String(), Type.Unknown()),
    }),
  },
  { $id: 'Error', description: 'Every error except a rejection by the gateway.' },
)

export const GatewayRejectionResponse = Closed(
  { message: Type.String({ examples: ['Unauthorized'] }) },
  { $id: 'GatewayRejection', description: 'A rejection before any plan is looked at.' },
)

export type ErrorResponse = Static<typeof ErrorResponse>
