import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { ApiError } from './errors.ts'

/** Sets `x-request-id` on every response, and refuses what Node would refuse without the error envelope. */
export function registerRequestHeaders(app: FastifyInstance): void {
  // These hooks wait for nothing, so they call back instead of creating a promise for each request.
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    dropRepeatedAuthorization(request.raw)
    done(refusalOf(request.raw))
  })
  // Without these listeners, Node answers by itself: with 417, or with `100 Continue` before
  // anything was checked. `registerBodyTimeout` sends it once the body is wanted.
  for (const event of ['checkContinue', 'checkExpectation']) {
    app.server.on(event, (request, response) => app.server.emit('request', request, response))
  }
}

function refusalOf({ headers, httpVersion }: IncomingMessage): ApiError | undefined {
  if (httpVersion !== '1.1') return undefined
  if (headers.host === undefined) {
    return new ApiError(400, 'invalid_request', 'Send the header Host (RFC 9112, section 3.2).')
  }
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue') {
    return new ApiError(417, 'invalid_request', 'The only supported expectation is 100-continue.')
  }
  return undefined
}

/** Of two `Authorization` headers, Node keeps the first. We accept neither. */
function dropRepeatedAuthorization({ rawHeaders, headers }: IncomingMessage): void {
  if (headers.authorization === undefined) return
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string
    if (name.length === 'authorization'.length && name.toLowerCase() === 'authorization') count += 1
  }
  if (count > 1) delete headers.authorization
}
