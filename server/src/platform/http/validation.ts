import { Ajv, type AnySchema, type ErrorObject, type ValidateFunction } from 'ajv'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import type {
  FastifyError,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifySchemaCompiler,
  FastifySchemaValidationError,
} from 'fastify'
import type { TObject } from 'typebox'
import { lazy } from '../lazy.ts'
import type { ApiError } from './api-error.ts'
import { createInvalidFieldError, createInvalidFieldsError, encodePointerToken, type FieldError } from './errors.ts'
import { Closed } from './schemas.ts'

const FIELD_ERRORS_MAX = 20
const NOT_A_FIELD = 'is not a field of this request'

/**
 * Bodies are validated literally: no coercion, unknown fields refused. Query strings and paths are
 * text, so their values are coerced. Fastify's own Ajv would coerce and strip silently everywhere.
 */
export function registerValidation(app: FastifyInstance): void {
  const literal = lazy(() => createAjv({ coerceTypes: false }))
  const coercing = lazy(() => createAjv({ coerceTypes: true }))
  const compile: FastifySchemaCompiler<AnySchema> = ({ schema, httpPart }) => {
    const validate = compiledWhenUsed(httpPart === 'body' ? literal : coercing, schema)
    return httpPart === 'querystring' ? withPlainNumbers(schema as TObject, validate) : validate
  }
  app.setValidatorCompiler(compile)
  app.addHook('onRoute', (route) => {
    const { schema } = route
    if (!schema || !('operationId' in schema)) return
    // A route without parameters or fields refuses them, too.
    schema.querystring ??= Closed({})
    if (schema.body === undefined) route.preValidation = [route.preValidation ?? [], refuseBody].flat()
  })
  app.setSchemaErrorFormatter((errors) => Object.assign(new Error('invalid'), { validation: errors }))
}

type Validate = (value: unknown) => true | { error: FastifySchemaValidationError[] }

/**
 * The first request of a route compiles its schema, which takes a millisecond or two; the schemas
 * of all routes would delay every start.
 */
function compiledWhenUsed(ajv: () => Ajv, schema: AnySchema): Validate {
  const compiled = lazy<ValidateFunction>(() => ajv().compile(schema))
  return (value) => {
    const validate = compiled()
    return validate(value) || { error: (validate.errors ?? []) as FastifySchemaValidationError[] }
  }
}

/** For a route without a body: no body and `{}` are the same. */
function refuseBody({ body }: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void {
  if (body === undefined) done()
  else if (typeof body !== 'object' || body === null || Array.isArray(body))
    done(createInvalidFieldError('/body', 'must be empty or {}'))
  else {
    const [name] = Object.keys(body)
    done(name === undefined ? undefined : createInvalidFieldError(`/body/${encodePointerToken(name)}`, NOT_A_FIELD))
  }
}

const INTEGER = /^-?\d{1,15}$/
const DECIMAL = /^-?\d{1,15}(?:\.\d{1,15})?$/

/**
 * Numbers in a query are plain decimals. Ajv's coercion would also accept `0x10`, `1e1` and ` 1`.
 */
function withPlainNumbers({ properties = {} }: Partial<TObject>, validate: Validate) {
  const forms = Object.entries(properties).flatMap(([name, { type }]: [string, { type?: unknown }]) => {
    if (type === 'integer') return [{ name, form: INTEGER, message: 'must be an integer in decimal digits' }]
    if (type === 'number') return [{ name, form: DECIMAL, message: 'must be a decimal number, such as 0.5' }]
    return []
  })
  if (forms.length === 0) return validate
  return (query: Record<string, unknown>) => {
    const wrong = forms.find(({ name, form }) => name in query && !form.test(String(query[name])))
    if (wrong) return { error: createInvalidFieldError(`/query/${wrong.name}`, wrong.message) }
    return validate(query)
  }
}

function createAjv(options: { coerceTypes: boolean }): Ajv {
  const ajv = new Ajv({
    ...options,
    useDefaults: true,
    removeAdditional: false,
    allErrors: false,
    strict: false,
    strictNumbers: true,
    verbose: true, // for the description of the field
    // To check the schemas themselves takes longer than to compile them; a test does it.
    meta: false,
    validateSchema: false,
  })
  ajv.addFormat('date-time', { type: 'string', validate: isTimestamp })
  ajv.addFormat('uuid', fullFormats.uuid as RegExp)
  return ajv
}

/** PostgreSQL has no year 0, and RFC 3339 has no years of five digits. */
const EARLIEST_MS = Date.parse('0001-01-01T00:00:00Z')
const LATEST_MS = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * Whether the text is an RFC 3339 time with an offset that can be stored and shown. Leap seconds
 * are not.
 */
export function isTimestamp(text: string): boolean {
  const { validate } = fullFormats['date-time'] as { validate: (text: string) => boolean }
  if (text.length > 40 || !validate(text)) return false
  const at = Date.parse(text)
  return at >= EARLIEST_MS && at <= LATEST_MS
}

const PART_NAMES: Record<string, string> = { body: 'body', querystring: 'query', params: 'path', headers: 'headers' }

/** Converts a failed validation to `invalid_request` with the path of each mistake. */
export function toInvalidRequest(error: FastifyError | Error): ApiError {
  const { validation, validationContext } = error as FastifyError
  const where = PART_NAMES[validationContext ?? 'body'] ?? 'body'
  const errors = (validation ?? []) as unknown as ErrorObject[]
  return createInvalidFieldsError(errors.slice(0, FIELD_ERRORS_MAX).map((entry) => toFieldError(entry, where)))
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
  if (params.missingProperty)
    return { path: `${at}/${encodePointerToken(params.missingProperty)}`, message: 'is required' }
  if (params.additionalProperty !== undefined) {
    const message = where === 'query' ? 'is not a parameter of this route' : NOT_A_FIELD
    return { path: `${at}/${encodePointerToken(params.additionalProperty)}`, message }
  }
  if (params.format === 'date-time') return { path: at, message: TIMESTAMP_FORM }
  if (error.keyword === 'pattern') return { path: at, message: patternMessage(error) }
  if (params.allowedValues) return { path: at, message: `must be one of ${params.allowedValues.join(', ')}` }
  return { path: at, message: error.message ?? 'is not valid' }
}

/** A pattern alone is hard to read, so the description of the field comes first. */
function patternMessage({ params, parentSchema }: ErrorObject): string {
  const description = parentSchema?.description as string | undefined
  const pattern = `must match the pattern ${params.pattern}`
  return description === undefined ? pattern : `is not valid. ${description} It ${pattern}`
}
