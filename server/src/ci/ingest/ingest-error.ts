import type { FastifyReply, FastifyRequest } from 'fastify'
import { TokenRejection } from '../../access/oidc-trusts/tokens/token-rejection.ts'
import { repoNotLinked, tokenExpired, tokenInvalid } from '../../errors/ingest.ts'
import { type ApiError, GatewayRejection } from '../../platform/http/api-error.ts'
import { sendApiError, toRequestError } from '../../platform/http/error-handler.ts'

/** Sends an error as the ingest routes describe it: `{code, error, retryable}` (docs/ingest.md). */
export function sendIngestError(error: Error, request: FastifyRequest, reply: FastifyReply) {
  const known = error instanceof GatewayRejection ? toTokenError(error) : toRequestError(error, request)
  if (known.status === 401) reply.header('www-authenticate', 'Bearer')
  return sendApiError(known, request, reply, toBody)
}

function toTokenError(rejection: GatewayRejection): ApiError {
  const reason = rejection instanceof TokenRejection ? rejection.reason : null
  if (reason === 'expired') return tokenExpired()
  // A trust without the scope of the route trusts the token for something else.
  if (reason === 'unmatched' || rejection.status === 403) return repoNotLinked()
  return tokenInvalid()
}

/** Codes that the client tries again, besides those of a limit or of a failure. */
const RETRYABLE_CODES = ['token_expired', 'run_not_found']

function toBody({ status, code, message }: ApiError) {
  const retryable = status === 408 || status === 429 || status >= 500 || RETRYABLE_CODES.includes(code)
  return { code: status === 400 ? 'INVALID_REQUEST' : code.toUpperCase(), error: message, retryable }
}
