import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ApiError } from './api-error.ts'
import { invalidJson, unsupportedMediaType } from './errors.ts'
import { canBeUnstorable, checkStorable, normalizeUnstorable } from './unstorable.ts'

/**
 * Reads bodies of the type application/json. Values that the database cannot store are refused
 * before validation.
 */
export function registerJsonBody(app: FastifyInstance): void {
  parseJsonBodies(app, (body, text) => {
    if (canBeUnstorable(text)) checkStorable(body, '/body')
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
