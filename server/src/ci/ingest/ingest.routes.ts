import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { logRejection } from '../../access/gateway/authorize.ts'
import { TRUST_PROVIDERS, type TrustProvider } from '../../access/oidc-trusts/token-job.ts'
import { TokenRejection } from '../../access/oidc-trusts/trusts/token-verifier.ts'
import { repoNotLinked, tokenExpired, tokenInvalid } from '../../errors/ingest.ts'
import { type ApiError, GatewayRejection } from '../../platform/http/api-error.ts'
import { sendApiError, toRequestError } from '../../platform/http/error-handler.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { registerReplacingJsonBody } from '../../platform/http/json-body.ts'
import { update } from '../../platform/queue/update.ts'
import type { Services } from '../../services.ts'
import { openRunIntake, type RunIntake } from '../runs/run-intake.ts'
import { INGEST_BODY_BYTES_MAX, IngestedCompletion, IngestedReport, IngestedReportPath } from './ingest.schema.ts'
import { completeIngested, createIngestedReport } from './ingest-report.ts'

/**
 * The routes of the public action (docs/ingest.md). They have their own form of bodies and errors,
 * and store the same as the routes of the API. They are not part of the OpenAPI document.
 */
export async function registerIngestRoutes(app: HttpServer, services: Services): Promise<void> {
  const intake = openRunIntake(services.sql)
  const routes = async (scope: HttpServer) => {
    const base = scope as unknown as FastifyInstance
    base.setErrorHandler(sendIngestError)
    // A hook of the server refuses unknown paths. With this, the error has the form of this scope.
    base.setNotFoundHandler(() => {})
    registerReplacingJsonBody(base)
    for (const provider of TRUST_PROVIDERS) addRoutes(scope, provider, services, intake)
  }
  await app.register(routes, { prefix: '/api/ingest' })
}

function addRoutes(app: HttpServer, provider: TrustProvider, services: Services, intake: RunIntake): void {
  const options = {
    config: { scope: 'write:ci', limitedAs: 'report', tokenOnly: true, updates: () => [update('run')] } as const,
    bodyLimit: INGEST_BODY_BYTES_MAX,
    onRequest: requireProvider(provider),
  }

  app.post(`/${provider}/reports`, { ...options, schema: { body: IngestedReport } }, ({ actor, body }) =>
    createIngestedReport(services, intake, actor, body),
  )

  app.post(
    `/${provider}/reports/:reportId/complete`,
    { ...options, schema: { params: IngestedReportPath, body: IngestedCompletion } },
    ({ actor, params, body }) => completeIngested(services, intake, actor, { ...params, ...body }),
  )
}

/** Refuses a token of another provider than the path names, and one that names no run. */
function requireProvider(provider: TrustProvider) {
  return async (request: FastifyRequest) => {
    const { credential } = request.actor
    if (credential.type === 'oidc_trust' && credential.job?.provider === provider) return
    const details = `The token does not name a run and a repository as tokens of ${provider} do, or its trust has another provider.`
    throw logRejection(request, new TokenRejection('invalid', details))
  }
}

/** Codes that the client tries again, besides those of a limit or of a failure. */
const RETRYABLE_CODES = ['token_expired', 'run_not_found']

/** Sends an error as the ingest routes describe it: `{code, error, retryable}` (docs/ingest.md). */
function sendIngestError(error: Error, request: FastifyRequest, reply: FastifyReply) {
  const known = error instanceof GatewayRejection ? toTokenError(error) : toRequestError(error, request)
  if (known.status === 401) reply.header('www-authenticate', 'Bearer')
  return sendApiError(known, request, reply, ({ status, code, message }) => {
    const retryable = status === 408 || status === 429 || status >= 500 || RETRYABLE_CODES.includes(code)
    return { code: status === 400 ? 'INVALID_REQUEST' : code.toUpperCase(), error: message, retryable }
  })
}

function toTokenError(rejection: GatewayRejection): ApiError {
  const reason = rejection instanceof TokenRejection ? rejection.reason : null
  if (reason === 'expired') return tokenExpired()
  // A trust without the scope of the route trusts the token for something else.
  if (reason === 'unmatched' || rejection.status === 403) return repoNotLinked()
  return tokenInvalid()
}
