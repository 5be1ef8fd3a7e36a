import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { ApiError } from './errors.ts'
import { refuseUnstorable } from './storable-text.ts'

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

/** Reads bodies of the type application/json. Values that the database cannot store are refused before validation. */
export function registerJsonBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: unknown, bytes: Buffer) => {
    if (!isUtf8(bytes)) throw new ApiError(400, 'invalid_json', 'The body is not UTF-8.')
    const text = bytes.toString()
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  } catch (cause) {
    throw new ApiError(400, 'invalid_json', `The body is not JSON: ${(cause as Error).message}`)
  }
}
