import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ApiError } from './api-error.ts'
import { createInvalidFieldError, encodePointerToken, invalidJson, unsupportedMediaType } from './errors.ts'

/**
 * Reads bodies of the type application/json. Values that the database cannot store are refused
 * before validation.
 */
export function registerJsonBody(app: FastifyInstance): void {
  parseJsonBodies(app, (body, text) => {
    if (SUSPICIOUS.test(text)) checkStorable(body, '/body')
    return body
  })
  app.addHook('onRequest', ({ headers }, _reply, done) => {
    if (headers['content-length'] === '0') delete headers['content-type']
    done(checkHeaders(headers))
  })
}

/**
 * For the routes of a plugin: characters that the database cannot store are replaced instead, so
 * that one message with such a character does not fail a whole report.
 */
export function registerReplacingJsonBody(app: FastifyInstance): void {
  parseJsonBodies(app, (body) => normalizeUnstorable(body, '/body'))
}

/**
 * The `preValidation` of routes whose body can be left out: it is validated as `{}`, so that a
 * required field is reported as missing.
 */
export async function normalizeMissingBody(request: FastifyRequest): Promise<void> {
  request.body ??= {}
}

function parseJsonBodies(app: FastifyInstance, finish: (body: unknown, text: string) => unknown): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: unknown, bytes: Buffer) => {
    if (!isUtf8(bytes)) throw invalidJson('The body is not UTF-8.')
    const text = bytes.toString()
    return text.length === 0 ? undefined : finish(parseJson(text), text)
  })
}

function checkHeaders(headers: IncomingHttpHeaders): ApiError | undefined {
  const { 'content-encoding': encoding, 'content-type': type } = headers
  if (encoding && encoding !== 'identity')
    return unsupportedMediaType('Compressed bodies are not supported. Send plain JSON.')
  const charset = type === undefined ? undefined : CHARSET.exec(type)?.[1]
  if (charset && !/^utf-?8$/i.test(charset)) return unsupportedMediaType('The only supported charset is UTF-8.')
  return undefined
}

const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]+)/i

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  } catch (cause) {
    throw invalidJson(`The body is not JSON: ${(cause as Error).message}`)
  }
}

/**
 * Refuses query parameters that the database cannot store. A query can contain only one such
 * character: U+0000.
 */
export function registerStorableQuery(app: FastifyInstance): void {
  app.addHook('preValidation', ({ url, query, is404 }, _reply, done) => {
    // An error thrown here is passed on like one given to `done`. Pages read their query
    // themselves.
    if (url.includes('%00') && !is404) checkStorable(query, '/query')
    done()
  })
}

/** Without any of these, a text of JSON contains nothing that cannot be stored. */
const SUSPICIOUS = new RegExp(
  [
    /\\u(?:0000|d[89a-f])|"__proto__"/, // text that cannot be stored
    /[:[,\s]-?\d+(?:\.\d+)?e\+?\d{3}/, // numbers that may exceed the range of a double
    /[:[,\s]-?\d{200}/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
)

const NESTING_MAX = 64

/**
 * Throws `invalid_request` for the first value that PostgreSQL cannot store: U+0000, lone
 * surrogates, infinity.
 */
function checkStorable(value: unknown, path: string, depth = 0): void {
  if (depth > NESTING_MAX) throw createInvalidFieldError(path, `must not be nested deeper than ${NESTING_MAX} levels`)
  if (typeof value === 'string' && (value.includes('\0') || !value.isWellFormed())) {
    throw createInvalidFieldError(path, 'must not contain U+0000 or a lone surrogate')
  }
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) {
    throw createInvalidFieldError(path, 'must be a number within the range of a double')
  }
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) {
    if (name === '__proto__') throw createInvalidFieldError(`${path}/__proto__`, 'is not a field of this request')
    checkStorable(name, path, depth)
    checkStorable(inner, `${path}/${encodePointerToken(name)}`, depth + 1)
  }
}

/** Above what validation allows in any field, and low enough that recursion cannot overflow. */
const REPLACED_NESTING_MAX = 80

/** The value with U+FFFD for what cannot be stored, and without members named `__proto__`. */
export function normalizeUnstorable(value: unknown, path: string, depth = 0): unknown {
  if (depth > REPLACED_NESTING_MAX) {
    throw createInvalidFieldError(path, `must not be nested deeper than ${REPLACED_NESTING_MAX} levels`)
  }
  if (typeof value === 'string') return value.replaceAll('\0', '\ufffd').toWellFormed()
  if (Array.isArray(value)) return value.map((item, index) => normalizeUnstorable(item, `${path}/${index}`, depth + 1))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([name]) => name !== '__proto__')
  return Object.fromEntries(
    members.map(([name, inner]) => [
      normalizeUnstorable(name, path, depth),
      normalizeUnstorable(inner, `${path}/${encodePointerToken(name)}`, depth + 1),
    ]),
  )
}
