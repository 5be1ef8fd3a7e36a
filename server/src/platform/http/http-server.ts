import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerOptions, ServerResponse } from 'node:http'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController, type RawServerDefault } from 'fastify'
import type { Log } from '../log.ts'
import {
  BODY_MS_MAX,
  HEADERS_MS_MAX,
  KEEP_ALIVE_MS,
  limitConnectionsPerAddress,
  REQUEST_MS_MAX,
  registerBodyTimeout,
  TIME_LIMITS_CHECK_MS,
} from './connection-limits.ts'
import { registerErrorHandler, registerNotFound, sendApiError, toApiError } from './error-handler.ts'
import { registerJsonBody, registerStorableQuery } from './json-body.ts'
import { answerClientError, registerProtocolErrors } from './protocol-errors.ts'
import { registerRequestWork } from './request-work.ts'
import { createSerializers, getSecurityHeaders, registerSecurityHeaders } from './responses.ts'
import { ServerResponseAfterBody } from './unread-body.ts'
import { registerValidation } from './validation.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Set before the port is closed. */
    readonly stopping: { isStopping: boolean }
  }
}

const BODY_BYTES_MAX = 2 ** 20
const PATH_PARAMETER_CHARS_MAX = 200

/** Our Fastify: request types come from the TypeBox schemas of each route. */
export type HttpServer = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

export type HttpOptions = {
  /** Whether clients reach the server at an https address. */
  overTls?: boolean
  /** Open connections from one remote address; 0 means no limit. */
  connectionsPerAddress?: number
  /** Proxies whose `X-Forwarded-For` tells the address of a request. */
  trustedProxies?: readonly string[]
  headersMs?: number
  bodyMs?: number
}

/**
 * The HTTP server that all routes share: JSON, strict validation, the error envelope, request ids,
 * time limits.
 */
export function createHttpServer(log: Log, options: HttpOptions = {}): HttpServer {
  const { connectionsPerAddress = 0, trustedProxies = [], headersMs = HEADERS_MS_MAX, bodyMs = BODY_MS_MAX } = options
  const headers = getSecurityHeaders(options.overTls ?? false)
  const app = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    // The lines of a request state its ids by themselves.
    childLoggerFactory: (logger) => logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_BYTES_MAX,
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    requestIdHeader: false,
    genReqId: requestId,
    http: nodeOptions(headersMs),
    requestTimeout: REQUEST_MS_MAX,
    keepAliveTimeout: KEEP_ALIVE_MS,
    return503OnClosing: false,
    pluginTimeout: 0, // it would also limit how long `close` waits for requests in flight
    clientErrorHandler: (error, socket) => answerClientError(error, socket, headers),
    // Addresses that the router cannot read reach neither hooks nor the error handler.
    frameworkErrors: (error, request, reply) => {
      sendApiError(toApiError(error), request, reply.headers(headers).header('x-request-id', request.id))
    },
    schemaController: { compilersFactory: { buildSerializer: createSerializers } },
    routerOptions: { maxParamLength: PATH_PARAMETER_CHARS_MAX },
  }).withTypeProvider<TypeBoxTypeProvider>()
  limitConnectionsPerAddress(app.server, connectionsPerAddress, log)
  const base = app as unknown as FastifyInstance
  registerRequestWork(base)
  // Hooks that wait for nothing call back instead of creating a promise for each request.
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done()
  })
  const stopping = { isStopping: false }
  app.decorate('stopping', stopping)
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (stopping.isStopping) reply.header('connection', 'close')
    done()
  })
  registerSecurityHeaders(base, headers)
  registerProtocolErrors(base)
  registerValidation(base)
  registerErrorHandler(base)
  registerNotFound(base)
  registerBodyTimeout(base, bodyMs)
  registerJsonBody(base)
  registerStorableQuery(base)
  return app
}

function nodeOptions(headersMs: number): ServerOptions {
  return {
    headersTimeout: headersMs,
    connectionsCheckingInterval: Math.min(TIME_LIMITS_CHECK_MS, headersMs),
    requireHostHeader: false, // we refuse such a request ourselves, with the error envelope
    ServerResponse: ServerResponseAfterBody as unknown as NonNullable<ServerOptions['ServerResponse']>,
  }
}

const CLIENT_REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/

/** Keeps the client's own id if it is safe to log. */
function requestId(request: { headers: IncomingMessage['headers'] }): string {
  const given = request.headers['x-request-id']
  return typeof given === 'string' && CLIENT_REQUEST_ID.test(given) ? given : randomUUID()
}
