import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { ApiError, invalidField, pointerToken } from './errors.ts'

/**
 * A body without any of these contains nothing that `refuseUnstorable` refuses, and is not
 * searched.
 */
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

/**
 * Reads bodies of the type application/json. Values that the database cannot store are refused
 * before validation.
 */
export function registerJsonBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: unknown, bytes: Buffer) => {
    const text = decodeBody(bytes)
    if (text.length === 0) return undefined
    const body = parseJson(text)
    if (SUSPICIOUS.test(text)) refuseUnstorable(body, '/body')
    return body
  })
  app.addHook('onRequest', ({ headers }, _reply, done) => {
    if (headers['content-length'] === '0') delete headers['content-type']
    done(refusalOf(headers))
  })
}

function refusalOf(headers: IncomingHttpHeaders): ApiError | undefined {
  const { 'content-encoding': encoding, 'content-type': type } = headers
  if (encoding && encoding !== 'identity') return unsupported('Compressed bodies are not supported. Send plain JSON.')
  const charset = type === undefined ? undefined : CHARSET.exec(type)?.[1]
  if (charset && !/^utf-?8$/i.test(charset)) return unsupported('The only supported charset is UTF-8.')
  return undefined
}

const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]+)/i

function unsupported(message: string): ApiError {
  return new ApiError(415, 'unsupported_media_type', message)
}

function decodeBody(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString()
  throw new ApiError(400, 'invalid_json', 'The body is not UTF-8.')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  } catch (cause) {
    throw new ApiError(400, 'invalid_json', `The body is not JSON: ${(cause as Error).message}`)
  }
}

/**
 * For the routes of a plugin: characters in a JSON body that PostgreSQL cannot store are replaced
 * by U+FFFD, so that one message with such a character does not fail a whole report.
 */
export function replaceUnstorableText(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: unknown, bytes: Buffer) => {
    const text = decodeBody(bytes)
    return text.length === 0 ? undefined : storable(parseJson(text), '/body')
  })
}

/** Above what validation allows in any field, and low enough that recursion cannot overflow. */
const REPLACED_NESTING_MAX = 80

/** The value without members named `__proto__` and without characters that cannot be stored. */
export function storable(value: unknown, path: string, depth = 0): unknown {
  if (depth > REPLACED_NESTING_MAX) {
    throw invalidField(path, `must not be nested deeper than ${REPLACED_NESTING_MAX} levels`)
  }
  if (typeof value === 'string') return value.replaceAll('\0', '\ufffd').toWellFormed()
  if (Array.isArray(value)) return value.map((item, index) => storable(item, `${path}/${index}`, depth + 1))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([name]) => name !== '__proto__')
  return Object.fromEntries(
    members.map(([name, inner]) => [
      storable(name, path, depth),
      storable(inner, `${path}/${pointerToken(name)}`, depth + 1),
    ]),
  )
}

/**
 * Refuses query parameters that the database cannot store. A query can contain only one such
 * character: U+0000.
 */
export function registerStorableQuery(app: FastifyInstance): void {
  app.addHook('preValidation', ({ url, query }, _reply, done) => {
    // An error thrown here is passed on like one given to `done`.
    if (url.includes('%00')) refuseUnstorable(query, '/query')
    done()
  })
}

const NESTING_MAX = 64

/**
 * Throws `invalid_request` for the first value that PostgreSQL cannot store: U+0000, lone
 * surrogates, infinity.
 */
function refuseUnstorable(value: unknown, path: string, depth = 0): void {
  if (depth > NESTING_MAX) throw invalidField(path, `must not be nested deeper than ${NESTING_MAX} levels`)
  if (typeof value === 'string' && (value.includes('\0') || !value.isWellFormed())) {
    throw invalidField(path, 'must not contain U+0000 or a lone surrogate')
  }
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) {
    throw invalidField(path, 'must be a number within the range of a double')
  }
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) {
    if (name === '__proto__') throw invalidField(`${path}/__proto__`, 'is not a field of this request')
    refuseUnstorable(name, path, depth)
    refuseUnstorable(inner, `${path}/${pointerToken(name)}`, depth + 1)
  }
}
