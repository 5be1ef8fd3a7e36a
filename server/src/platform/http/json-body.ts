import { isUtf8 } from 'node:buffer'
import type { FastifyInstance } from 'fastify'
import { ApiError, invalidField, pointerToken } from './errors.ts'

/**
 * Reads application/json bodies. PostgreSQL stores neither U+0000 nor lone surrogates, so a text that holds one is
 * refused here, by name, before any schema looks at it.
 */
export function registerJsonBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: unknown, bytes: Buffer) => {
    if (!isUtf8(bytes)) throw new ApiError(400, 'invalid_json', 'The body is not UTF-8.')
    const text = bytes.toString()
    if (text.length === 0) return undefined
    const body = parseJson(text)
    if (SUSPICIOUS_ESCAPE.test(text)) refuseUnstorable(body, '/body')
    return body
  })
  app.addHook('onRequest', async (request) => {
    if (request.headers['content-length'] === '0') delete request.headers['content-type']
    const encoding = request.headers['content-encoding']
    if (encoding && encoding !== 'identity') {
      throw new ApiError(415, 'unsupported_media_type', 'Compressed bodies are not read. Send plain JSON.')
    }
  })
}

const SUSPICIOUS_ESCAPE = /\\u(?:0000|d[89a-f])|"__proto__"/i

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  } catch (cause) {
    throw new ApiError(400, 'invalid_json', `The body is not JSON: ${(cause as Error).message}`)
  }
}

const NESTING_MAX = 64

function refuseUnstorable(value: unknown, path: string, depth = 0): void {
  if (depth > NESTING_MAX) throw invalidField(path, `is nested deeper than ${NESTING_MAX} levels`)
  if (typeof value === 'string' && (value.includes('\0') || !value.isWellFormed())) {
    throw invalidField(path, 'must not hold U+0000 or half of a surrogate pair')
  }
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) {
    if (name === '__proto__') throw invalidField(`${path}/__proto__`, 'is not a field of this request')
    refuseUnstorable(name, path, depth)
    refuseUnstorable(inner, `${path}/${pointerToken(name)}`, depth + 1)
  }
}
