import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, GatewayRejection, unavailable } from './errors.ts'
import { fieldErrors } from './validation.ts'

/** Codes of drivers and sockets that mean "the database or the store is away", not "we have a defect". */
const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'CONNECT_TIMEOUT',
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '53300', // too_many_connections
])

const FRAMEWORK_ERRORS: Record<string, [status: number, code: string, message: string]> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    415,
    'unsupported_media_type',
    'Send JSON, with the header Content-Type: application/json.',
  ],
  FST_ERR_CTP_BODY_TOO_LARGE: [413, 'payload_too_large', 'The body is larger than this route takes.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [400, 'invalid_request', 'The body is not as long as its Content-Length says.'],
  FST_ERR_BAD_URL: [400, 'invalid_request', 'The address is not valid percent-encoding.'],
  FST_ERR_MAX_PARAM_LENGTH: [404, 'not_found', 'There is nothing at this address.'],
}

export function registerErrorHandler(app: FastifyInstance): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    if (error instanceof GatewayRejection) return sendGatewayRejection(error, reply)
    return sendApiError(toApiError(error), request, reply)
  })
}

/** Every error as the one a caller may see; what we did not foresee becomes a 500 that says nothing. */
export function toApiError(error: FastifyError | Error): ApiError {
  if (error instanceof ApiError) return error
  if ('validation' in error && error.validation) return fieldErrors(error)
  const code = 'code' in error ? String(error.code) : ''
  const known = FRAMEWORK_ERRORS[code]
  if (known) return new ApiError(known[0], known[1], known[2])
  if (UNREACHABLE.has(code)) return unavailable(error)
  return new ApiError(500, 'internal_error', 'Something failed on our side.', {}, undefined, { cause: error })
}

function sendGatewayRejection(rejection: GatewayRejection, reply: FastifyReply) {
  if (rejection.status === 401) reply.header('www-authenticate', 'Bearer')
  return reply.code(rejection.status).serializer(JSON.stringify).type('application/json; charset=utf-8').send({
    message: rejection.message,
  })
}

export function sendApiError(error: ApiError, request: FastifyRequest, reply: FastifyReply) {
  if (error.status >= 500) request.log.error({ err: error.cause ?? error, request_id: request.id }, error.message)
  if (error.retryAfterSeconds !== undefined) reply.header('retry-after', error.retryAfterSeconds)
  return reply
    .code(error.status)
    .serializer(JSON.stringify)
    .type('application/json; charset=utf-8')
    .send({
      error: { code: error.code, message: error.message, details: error.details },
    })
}
