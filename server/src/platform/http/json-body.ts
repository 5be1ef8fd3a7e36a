import { isUtf8 } from 'node:buffer'
import type { FastifyInstance } from 'fastify'
import { ApiError } from './errors.ts'
import { refuseUnstorable } from './storable-text.ts'

/** Reads application/json bodies, and refuses those that the database could not store before any schema looks at them. */
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
  app.addHook('onRequest', ({ headers }, _reply, done) => {
    if (headers['content-length'] === '0') delete headers['content-type']
    const encoding = headers['content-encoding']
    if (!encoding || encoding === 'identity') done()
    else done(new ApiError(415, 'unsupported_media_type', 'Compressed bodies are not read. Send plain JSON.'))
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
