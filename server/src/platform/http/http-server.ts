import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController, type RawServerDefault } from 'fastify'
import type { Log } from '../log.ts'
import { answerClientError } from './client-error.ts'
import { registerErrorHandler, sendApiError, toApiError } from './error-handler.ts'
import { registerJsonBody } from './json-body.ts'
import { registerNotFound } from './not-found.ts'
import { registerStorableText } from './storable-text.ts'
import { registerValidation } from './validation.ts'

export const BODY_BYTES_MAX = 2 ** 20
const PATH_PARAMETER_CHARS_MAX = 200
const REQUEST_TIMEOUT_MS = 30 * 60_000

/** Our Fastify: request types come from the TypeBox schemas of each route. */
export type HttpServer = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

/** The one way in: JSON, literal validation, the error envelope, request ids. Knows no product. */
export function createHttpServer(log: Log): HttpServer {
  const app = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_BYTES_MAX,
    requestIdHeader: false,
    genReqId: requestId,
    requestTimeout: REQUEST_TIMEOUT_MS,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    clientErrorHandler: answerClientError,
    // Addresses that the router cannot read reach neither hooks nor the error handler.
    frameworkErrors: (error, request, reply) => {
      sendApiError(toApiError(error), request, reply.header('x-request-id', request.id))
    },
    routerOptions: { maxParamLength: PATH_PARAMETER_CHARS_MAX },
  }).withTypeProvider<TypeBoxTypeProvider>()
  const base = app as unknown as FastifyInstance
  // Hooks that wait for nothing call back instead of making a promise for every request.
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done()
  })
  registerValidation(base)
  registerErrorHandler(base)
  registerNotFound(base)
  registerJsonBody(base)
  registerStorableText(base)
  return app
}

const CLIENT_REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/

/** A client's own id is kept when it is harmless in a log line. */
function requestId(request: { headers: IncomingMessage['headers'] }): string {
  const given = request.headers['x-request-id']
  return typeof given === 'string' && CLIENT_REQUEST_ID.test(given) ? given : randomUUID()
}
