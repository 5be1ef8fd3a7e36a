import { Ajv, type AnySchema, type ErrorObject } from 'ajv'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import type { FastifyError, FastifyInstance, FastifySchemaCompiler } from 'fastify'
import { type ApiError, type FieldError, invalidRequest, pointerToken } from './errors.ts'
import { Closed } from './schemas.ts'

const FIELD_ERRORS_MAX = 20

/**
 * Bodies are read literally: no coercion, unknown fields refused. Query strings and paths are text on the wire, so they
 * are coerced. Fastify's own Ajv would coerce and strip silently everywhere.
 */
export function registerValidation(app: FastifyInstance): void {
  const literal = createAjv({ coerceTypes: false })
  const coercing = createAjv({ coerceTypes: true })
  const compile: FastifySchemaCompiler<AnySchema> = ({ schema, httpPart }) =>
    (httpPart === 'body' ? literal : coercing).compile(schema)
  app.setValidatorCompiler(compile)
  app.addHook('onRoute', ({ schema }) => {
    // A misspelt parameter is told, also where there are none.
    if (schema && 'operationId' in schema) schema.querystring ??= Closed({})
  })
  app.setSchemaErrorFormatter((errors) => Object.assign(new Error('invalid'), { validation: errors }))
}

function createAjv(options: { coerceTypes: boolean }): Ajv {
  const ajv = new Ajv({
    ...options,
    useDefaults: true,
    removeAdditional: false,
    allErrors: false,
    strict: false,
    strictNumbers: true,
  })
  ajv.addFormat('date-time', { type: 'string', validate: isTimestamp })
  ajv.addFormat('uuid', fullFormats.uuid as RegExp)
  return ajv
}

/** The first and the last time with a year of four digits in UTC. PostgreSQL has no year 0, RFC 3339 none of five digits. */
const EARLIEST_MS = Date.parse('0001-01-01T00:00:00Z')
const LATEST_MS = Date.parse('9999-12-31T23:59:59.999Z')

/** RFC 3339 with an offset, and a time that can be stored and shown (a leap second is not one). */
export function isTimestamp(text: string): boolean {
  const { validate } = fullFormats['date-time'] as { validate: (text: string) => boolean }
  if (text.length > 40 || !validate(text)) return false
  const at = Date.parse(text)
  return at >= EARLIEST_MS && at <= LATEST_MS
}

const PART_NAMES: Record<string, string> = { body: 'body', querystring: 'query', params: 'path', headers: 'headers' }

/** A failed validation as `invalid_request`, each mistake named by where it stands. */
export function fieldErrors(error: FastifyError | Error): ApiError {
  const { validation, validationContext } = error as FastifyError
  const where = PART_NAMES[validationContext ?? 'body'] ?? 'body'
  const errors = (validation ?? []) as unknown as ErrorObject[]
  return invalidRequest(errors.slice(0, FIELD_ERRORS_MAX).map((entry) => toFieldError(entry, where)))
}

const TIMESTAMP_FORM =
  'must be an RFC 3339 time with an offset, such as 2026-01-31T12:00:00Z (in a query, + is written %2B)'

function toFieldError(error: ErrorObject, where: string): FieldError {
  const at = `/${where}${error.instancePath}`
  const params = error.params as {
    missingProperty?: string
    additionalProperty?: string
    allowedValues?: unknown[]
    format?: string
  }
  if (params.missingProperty) return { path: `${at}/${pointerToken(params.missingProperty)}`, message: 'is required' }
  if (params.additionalProperty !== undefined) {
    const message = where === 'query' ? 'is not a parameter of this route' : 'is not a field of this request'
    return { path: `${at}/${pointerToken(params.additionalProperty)}`, message }
  }
  if (params.format === 'date-time') return { path: at, message: TIMESTAMP_FORM }
  if (params.allowedValues) return { path: at, message: `must be one of ${params.allowedValues.join(', ')}` }
  return { path: at, message: error.message ?? 'is not valid' }
}
