import { STATUS_CODES } from 'node:http'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isUnreachable } from '../unreachable.ts'
import { ApiError, GatewayRejection, unavailable } from './errors.ts'
import { fieldErrors } from './validation.ts'

const FRAMEWORK_ERRORS: Record<string, [status: number, code: string, message: string]> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    415,
    'unsupported_media_type',
    'Send JSON, with the header Content-Type: application/json.',
  ],
  FST_ERR_CTP_BODY_TOO_LARGE: [413, 'payload_too_large', 'The body exceeds the size limit of this route.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [400, 'invalid_request', 'The length of the body differs from Content-Length.'],
  FST_ERR_BAD_URL: [400, 'invalid_request', 'The path contains invalid percent-encoding.'],
  FST_ERR_MAX_PARAM_LENGTH: [404, 'not_found', 'This path does not exist.'],
}

/**
 * Codes for the statuses with which plugins refuse requests; any other 4xx is `invalid_request`.
 */
const CODES_BY_STATUS: Record<number, string> = {
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
}

export function registerErrorHandler(app: FastifyInstance): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    if (error instanceof GatewayRejection) return sendGatewayRejection(error, reply)
    return sendApiError(apiErrorOf(error, request), request, reply)
  })
}

/** Converts an error of a request to one that its caller may see. */
export function apiErrorOf(error: FastifyError | Error, request: FastifyRequest): ApiError {
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
  return new ApiError(400, 'invalid_request', 'The connection was closed before the end of the body.')
}

/**
 * Converts any error to one that a caller may see. An unforeseen error becomes a 500 without
 * details.
 */
export function toApiError(error: FastifyError | Error): ApiError {
  if (error instanceof ApiError) return error
  if ('validation' in error && error.validation) return fieldErrors(error)
  const code = 'code' in error ? String(error.code) : ''
  const known = FRAMEWORK_ERRORS[code]
  if (known) return new ApiError(known[0], known[1], known[2])
  if ('statusCode' in error && isClientError(error.statusCode)) return clientError(error.statusCode)
  if (isUnreachable(error)) return unavailable(error)
  return new ApiError(500, 'internal_error', 'An internal error occurred.').causedBy(error)
}

function isClientError(status: unknown): status is number {
  return typeof status === 'number' && status >= 400 && status < 500
}

function clientError(status: number): ApiError {
  return new ApiError(status, CODES_BY_STATUS[status] ?? 'invalid_request', `${STATUS_CODES[status]}.`)
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
