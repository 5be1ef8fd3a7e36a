import { STATUS_CODES } from 'node:http'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isUnreachable } from '../unreachable.ts'
import { ApiError, GatewayRejection } from './api-error.ts'
import type { ErrorDescription } from './define-error.ts'
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
    if (error instanceof GatewayRejection) return sendGatewayRejection(error, reply)
    return sendApiError(toRequestError(error, request), request, reply)
  })
}

/** Converts an error of a request to one that its caller may see. */
export function toRequestError(error: FastifyError | Error, request: FastifyRequest): ApiError {
  return hasClientLeft(request) ? clientLeft(request) : toApiError(error)
}

/**
 * Whether the connection was closed in the middle of the body. Reading it then fails with the
 * code of an unreachable server.
 */
function hasClientLeft({ raw }: FastifyRequest): boolean {
  return raw.destroyed && !raw.complete
}

function clientLeft(request: FastifyRequest): ApiError {
  request.log.debug({ request_id: request.id }, 'The client closed the connection before the end of the body')
  return invalidRequest('The connection was closed before the end of the body.')
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

function sendGatewayRejection(rejection: GatewayRejection, reply: FastifyReply) {
  if (rejection.status === 401) reply.header('www-authenticate', 'Bearer')
  return reply.code(rejection.status).serializer(JSON.stringify).type('application/json; charset=utf-8').send({
    message: rejection.message,
  })
}

/** Sends an error, by default in the error envelope. */
export function sendApiError(
  error: ApiError,
  request: FastifyRequest,
  reply: FastifyReply,
  toBody: (error: ApiError) => object = toEnvelope,
) {
  if (error.status >= 500) request.log.error({ err: error.cause ?? error, request_id: request.id }, error.message)
  if (error.retryAfterSeconds !== undefined) reply.header('retry-after', error.retryAfterSeconds)
  return reply.code(error.status).serializer(JSON.stringify).type('application/json; charset=utf-8').send(toBody(error))
}

function toEnvelope({ code, message, details }: ApiError) {
  return { error: { code, message, details } }
}
