import { STATUS_CODES } from 'node:http'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isUnreachable } from '../unreachable.ts'
import { ApiError, type ErrorDescription, GatewayRejection } from './api-error.ts'
import {
  createUnavailableError,
  internalError,
  invalidRequest,
  methodNotAllowed,
  missing,
  payloadTooLarge,
  unsupportedMediaType,
} from './errors.ts'
import { toInvalidRequest } from './validation.ts'

const FRAMEWORK_ERRORS: Record<string, () => ApiError> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    unsupportedMediaType('Send JSON, with the header Content-Type: application/json.'),
  FST_ERR_CTP_BODY_TOO_LARGE: () => payloadTooLarge('The body exceeds the size limit of this route.'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => invalidRequest('The length of the body differs from Content-Length.'),
  FST_ERR_BAD_URL: () => invalidRequest('The path contains invalid percent-encoding.'),
  FST_ERR_MAX_PARAM_LENGTH: () => missing('This path does not exist.'),
}

const REFUSALS: readonly ErrorDescription[] = [missing, methodNotAllowed, payloadTooLarge, unsupportedMediaType]

export function registerErrorHandler(app: FastifyInstance): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    if (!(error instanceof GatewayRejection)) return sendApiError(toRequestError(error, request), request, reply)
    if (error.status === 401) reply.header('www-authenticate', 'Bearer')
    return reply.code(error.status).serializer(JSON.stringify).type('application/json; charset=utf-8').send({
      message: error.message,
    })
  })
}

/** Converts an error of a request to one that its caller may see. */
export function toRequestError(error: FastifyError | Error, request: FastifyRequest): ApiError {
  if (!hasClientLeft(request)) return toApiError(error)
  request.log.debug({ request_id: request.id }, 'The client closed the connection before the end of the body')
  return invalidRequest('The connection was closed before the end of the body.')
}

/**
 * Whether the connection was closed in the middle of the body. Reading it then fails with the
 * code of an unreachable server.
 */
function hasClientLeft({ raw }: FastifyRequest): boolean {
  return raw.destroyed && !raw.complete
}

/**
 * Converts any error to one that a caller may see. An unforeseen error becomes a 500 without
 * details.
 */
export function toApiError(error: FastifyError | Error): ApiError {
  if (error instanceof ApiError) return error
  if ('validation' in error && error.validation) return toInvalidRequest(error)
  const code = 'code' in error ? String(error.code) : ''
  const known = FRAMEWORK_ERRORS[code]
  if (known) return known()
  if ('statusCode' in error && isClientError(error.statusCode)) return clientError(error.statusCode)
  if (isUnreachable(error)) return createUnavailableError(error)
  return internalError().causedBy(error)
}

function isClientError(status: unknown): status is number {
  return typeof status === 'number' && status >= 400 && status < 500
}

/** For the statuses with which plugins refuse requests. */
function clientError(status: number): ApiError {
  const { code } = REFUSALS.find((kind) => kind.status === status) ?? invalidRequest
  return new ApiError(status, code, `${STATUS_CODES[status]}.`)
}

/** Sends an error, by default in the error envelope. */
export function sendApiError(
  error: ApiError,
  request: FastifyRequest,
  reply: FastifyReply,
  toBody: (error: ApiError) => object = ({ code, message, details }) => ({ error: { code, message, details } }),
) {
  if (error.status >= 500) request.log.error({ err: error.cause ?? error, request_id: request.id }, error.message)
  if (error.retryAfterSeconds !== undefined) reply.header('retry-after', error.retryAfterSeconds)
  return reply.code(error.status).serializer(JSON.stringify).type('application/json; charset=utf-8').send(toBody(error))
}

type MethodsByPath = Map<string, Set<string>>

/**
 * Sends a response in place of the 404, or returns false. It does not return the reply: to wait for
 * a reply is to wait for nothing, because a reply is thenable.
 */
type Answer = (request: FastifyRequest, reply: FastifyReply) => Promise<boolean>

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Lets `answer` respond to GET and HEAD where no route has the first part of the path. Paths
     * beside a route, such as /v1/nothing, stay a 404.
     */
    answerUnknownPaths(answer: Answer): void
  }
}

/**
 * 404 for an unknown path, 405 with `Allow` for a known path with another method (RFC 9110
 * §15.5.6). Both are answered before the body is read.
 */
export function registerNotFound(app: FastifyInstance): void {
  const methodsByPath: MethodsByPath = new Map()
  let answer: Answer = async () => false
  app.decorate('answerUnknownPaths', (given: Answer) => {
    answer = given
  })
  app.addHook('onRoute', ({ url, method }) => {
    const methods = methodsByPath.get(url) ?? new Set()
    for (const name of [method].flat()) methods.add(name.toUpperCase())
    methodsByPath.set(url, methods)
  })
  app.addHook('onRequest', (request, reply, done) => {
    const isRefused = request.is404 && !isElsewhere(methodsByPath, request)
    done(isRefused ? noSuchRoute(methodsByPath, request, reply) : undefined)
  })
  // Plugins that serve files call this one for a file that does not exist.
  app.setNotFoundHandler(async (request, reply) => {
    if (isElsewhere(methodsByPath, request) && (await answer(request, reply))) return reply
    throw noSuchRoute(methodsByPath, request, reply)
  })
}

/** Whether a request reads a path of which no route has the first part. */
function isElsewhere(methodsByPath: MethodsByPath, { method, url }: FastifyRequest): boolean {
  const first = firstPart(url)
  return (method === 'GET' || method === 'HEAD') && ![...methodsByPath.keys()].some((path) => firstPart(path) === first)
}

function firstPart(url: string): string {
  return /^\/[^/?]*/.exec(url)?.[0] ?? ''
}

function noSuchRoute(methodsByPath: MethodsByPath, request: FastifyRequest, reply: FastifyReply): ApiError {
  const path = request.url.split('?', 1)[0] ?? ''
  const allowed = [...methodsByPath].find(([pattern]) => matches(pattern, path))?.[1]
  if (!allowed) return missing('This path does not exist.')
  reply.header('allow', [...allowed].sort().join(', '))
  return methodNotAllowed(request.method)
}

/** Compares segment by segment; `:name` matches any one segment, `*` at the end all that follow. */
function matches(pattern: string, path: string): boolean {
  const wanted = pattern.split('/')
  const given = path.split('/')
  if (wanted.at(-1) === '*' && given.length >= wanted.length) given.splice(wanted.length - 1, Infinity, '*')
  if (wanted.length !== given.length) return false
  return wanted.every((segment, index) => (segment.startsWith(':') ? given[index] !== '' : segment === given[index]))
}
