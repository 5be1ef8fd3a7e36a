import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { ApiError } from './api-error.ts'
import { expectationFailed, headersTooLarge, invalidRequest, requestTooSlow } from './errors.ts'
import type { SecurityHeaders } from './responses.ts'

/**
 * Refuses, with the error envelope, what Node would refuse without it, and two `Authorization`
 * headers.
 */
export function registerProtocolErrors(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    dropRepeatedAuthorization(raw)
    done(protocolError(raw))
  })
  // Without these listeners, Node itself answers: with 417, or with `100 Continue` before anything
  // was checked. `registerBodyTimeout` sends `100 Continue` once the body is wanted.
  for (const event of ['checkContinue', 'checkExpectation']) {
    app.server.on(event, (request, response) => app.server.emit('request', request, response))
  }
}

/** Node keeps the first of several `Authorization` headers. We accept none of them. */
function dropRepeatedAuthorization({ rawHeaders, headers }: IncomingMessage): void {
  if (headers.authorization === undefined) return
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string
    if (name.length === 'authorization'.length && name.toLowerCase() === 'authorization') count += 1
  }
  if (count > 1) delete headers.authorization
}

function protocolError({ headers, httpVersion }: IncomingMessage): ApiError | undefined {
  if (httpVersion !== '1.1') return undefined
  if (headers.host === undefined) {
    return invalidRequest('Send the header Host (RFC 9112, section 3.2).')
  }
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue') {
    return expectationFailed()
  }
  return undefined
}

const CLIENT_ERRORS: Record<string, () => ApiError> = {
  ERR_HTTP_REQUEST_TIMEOUT: () => requestTooSlow('The request did not arrive in time.'),
  HPE_HEADER_OVERFLOW: headersTooLarge,
}

/**
 * Answers bytes that are not an HTTP request. No reply object exists yet, so this writes the
 * envelope itself. Where a complete request came before those bytes, its answer is the last one.
 */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket, headers: SecurityHeaders): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const pending = pendingResponse(socket)
  if (pending) return void closeAfter(pending, socket)
  const answer = CLIENT_ERRORS[error.code ?? '']?.() ?? invalidRequest('This is not a valid HTTP request.')
  const { status, code, message, details } = answer
  const body = JSON.stringify({ error: { code, message, details } })
  if (!socket.writable) return void socket.destroy()
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'content-type: application/json; charset=utf-8',
    `x-request-id: ${randomUUID()}`,
    'connection: close',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}

/** The response that is not finished yet, to a request that has arrived completely. */
function pendingResponse(socket: Socket): ServerResponse | null {
  const response = (socket as { _httpMessage?: ServerResponse | null })._httpMessage
  return response?.req.complete ? response : null
}

/** Node reports each further piece of bytes that are not HTTP; the first one is enough. */
function closeAfter(response: ServerResponse, socket: Socket): void {
  if (!response.shouldKeepAlive) return
  response.shouldKeepAlive = false
  response.once('finish', () => socket.end())
}
