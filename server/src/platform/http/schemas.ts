import { type Static, type TProperties, type TSchema, Type } from 'typebox'

/** A JSON object without additional fields. */
export function Closed<Fields extends TProperties>(
  fields: Fields,
  options: { $id?: string; description?: string; minProperties?: number } = {},
) {
  return Type.Object(fields, { ...options, additionalProperties: false })
}

/**
 * The schema, or null. The description of the schema moves to the union, which is where
 * documentation tools and SDK generators read it.
 */
export function Nullable<Schema extends TSchema>(schema: Schema, options: { description?: string } = {}) {
  const { description, ...undescribed } = schema as Schema & { description?: string }
  const described = description === undefined ? options : { description, ...options }
  return Type.Union([undescribed as unknown as Schema, Type.Null()], described)
}

export function OneOf<const Values extends readonly string[]>(
  values: Values,
  options: { description?: string; default?: Values[number] } = {},
) {
  return Type.Unsafe<Values[number]>({ type: 'string', enum: [...values], ...options })
}

/** An RFC 3339 time. Requests need an offset; responses are in UTC with milliseconds. */
export const Timestamp = Type.String({ format: 'date-time', examples: ['2026-01-31T12:00:00.000Z'] })

/**
 * `{ data: <object> }`: every successful single-object response. OpenAPI shows the description as
 * that of the response.
 */
export function Envelope<Schema extends TSchema>(schema: Schema, description: string) {
  return Closed({ data: schema }, { description })
}

/** The list envelope (specification, "Common list response"). */
export function ListEnvelope<Schema extends TSchema>(schema: Schema, description: string) {
  return Closed(
    {
      data: Type.Array(schema, { description: 'The items of the page.' }),
      next_cursor: Nullable(
        Type.String({ description: 'The cursor of the next page. Send it as `cursor`. Null on the last page.' }),
      ),
      meta: Closed(
        {
          since: Type.String({ format: 'date-time', description: 'The effective start of the time window.' }),
          until: Type.String({ format: 'date-time', description: 'The effective end of the time window.' }),
          retention_clamped: Type.Boolean({
            description: 'True if `since` was moved forward to the start of the data retention of the plan.',
          }),
          matching: Type.Optional(
            Closed(
              {
                count: Type.Integer({ description: 'The number of items, at most 10,000.' }),
                exact: Type.Boolean({ description: 'False if there are more than 10,000.' }),
              },
              { description: 'How many items match the filters on all pages together. Only with `count=true`.' },
            ),
          ),
        },
        { description: 'The time window of the list.' },
      ),
    },
    { description },
  )
}

/** An item's id as a path parameter. */
export const ItemId = Type.String({ pattern: '^[A-Za-z0-9._:-]{1,128}$' })

export const ErrorResponse = Closed(
  {
    error: Closed({
      code: Type.String({ description: 'The error code. Programs should compare this field.' }),
      message: Type.String({ description: 'The cause of the error, for people to read.' }),
      details: Type.Record(Type.String(), Type.Unknown(), {
        description: 'Values that depend on the code, such as `errors`, `reason` or `requiredScope`. May be empty.',
      }),
    }),
  },
  { $id: 'Error', description: 'The body of every error except a rejection of the API key.' },
)

export const GatewayRejectionResponse = Closed(
  { message: Type.String({ examples: ['Unauthorized'], description: '`Unauthorized` or `Forbidden`.' }) },
  {
    $id: 'GatewayRejection',
    description: 'The body of a rejection of the API key or poll token. It does not state the reason.',
  },
)

export type ErrorResponse = Static<typeof ErrorResponse>
