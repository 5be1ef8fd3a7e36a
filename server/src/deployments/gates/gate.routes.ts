import type { FastifyReply } from 'fastify'
import { parseBearerToken } from '../../access/gateway/authorize.ts'
import { GatewayRejection } from '../../platform/http/api-error.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Envelope } from '../../platform/http/schemas.ts'
import { update } from '../../platform/queue/update.ts'
import type { Services } from '../../services.ts'
import { DeploymentGate, GatePath, NewGate, OpenedGate, PollHeaders } from './gate.schema.ts'
import { GateWatch } from './gate-watch.ts'
import { openGate } from './open-gate.ts'
import type { StoredGate } from './opened-gate.store.ts'
import { isPollToken, toDeploymentGate } from './opened-gate.ts'
import {
  admitPoll,
  type PollAllowance,
  PollCounter,
  parseWaitSeconds,
  readAnswer,
  waitForDecision,
} from './poll-gate.ts'

export async function registerGateRoutes(app: HttpServer, services: Services): Promise<void> {
  const watch = new GateWatch(services.sql)
  const counter = new PollCounter(services)
  const stopListening = await watch.listen()
  // The server waits for open requests before it closes, so waiting polls must be answered first.
  app.addHook('preClose', async () => watch.stop())
  app.addHook('onClose', stopListening)
  const toWire = (gate: StoredGate) => toDeploymentGate(gate, services.config.baseUrl, services.clock.now())

  app.post(
    '/v1/ci/gates',
    {
      config: { scope: 'write:ci', updates: ({ created }) => [update('deployment', created)] },
      schema: {
        operationId: 'openCiGate',
        summary: 'Open a deployment gate',
        description:
          'Creates a deployment that waits for the approval of every configured gate that covers it (201). If a gate was ' +
          'opened for the same run, attempt, environment and job, it is returned with the same poll token (200), unless its approval ' +
          'was used and the policies do not pass any more, it has expired or was cancelled, or it was rejected and evidence came ' +
          'since: then another gate `supersedes` it (201). Poll the gate until it is decided, and deploy only if `decision` is `approved`.\n\nErrors: 403 `forbidden` if a ' +
          'token is about a run of another repository. 403 `other_lane` if a credential that can be trusted more has opened the gate; ' +
          'such a credential takes over the gate that another has opened, with a new poll token. 404 `not_found` if the ' +
          'run or the attempt does not exist. 409 `gate_not_configured` if no configured gate covers the deployment. ' +
          '409 `run_finished` if the attempt has finished. 503 `unavailable` if the policies of an approved gate have no turn. 409 `run_mismatch` if the attempt is about another repository or ' +
          'commit than `expect`. 400 `invalid_request` for a subject that no run has. 409 `gate_subjects_differ` if the gate is opened again with ' +
          'other subjects.',
        tags: ['Deployment gates'],
        body: NewGate,
        response: {
          200: Envelope(OpenedGate, 'The existing gate.'),
          201: Envelope(OpenedGate, 'The gate was opened.'),
        },
      },
    },
    async (request, reply) => {
      const {
        gate: opened,
        created,
        token,
        warnings,
      } = await openGate(services, request.actor, request.body as NewGate)
      const gate = await readAnswer(services, opened)
      request.created = gate.deployment_id
      reply.code(created ? 201 : 200)
      const secret = { poll_token: token.text, expires_at: token.expiresAt.toISOString() }
      return { data: { ...toWire(gate), ...secret, ...(warnings.length > 0 && { warnings }) } }
    },
  )

  app.get(
    '/v1/ci/gates/:gate_id',
    {
      config: { public: true },
      onRequest: async ({ headers }) => void requirePollToken(headers.authorization),
      schema: {
        operationId: 'getCiGate',
        summary: 'Poll a deployment gate',
        description:
          'Returns the gate with its decision. Authenticate with the poll token that openCiGate returned, which is valid for ' +
          '12 hours. Wait `poll_after_seconds` between polls.\n\nErrors: 429 `rate_limited` if the gate is polled more than ' +
          '12 times a minute.',
        tags: ['Deployment gates'],
        security: [{ pollToken: [] }],
        params: GatePath,
        headers: PollHeaders,
        response: { 200: Envelope(DeploymentGate, 'The gate.') },
      },
    },
    async (request, reply) => {
      const poll = { id: request.params.gate_id, token: requirePollToken(request.headers.authorization) }
      const gate = await admitPoll(services, counter, poll, (allowance) => setHeaders(reply, allowance))
      const waitSeconds = parseWaitSeconds(request.headers.prefer)
      if (waitSeconds === null) return { data: toWire(await readAnswer(services, gate)) }
      reply.header('preference-applied', `wait=${waitSeconds}`)
      const limits = { waitMs: waitSeconds * 1000, gone: disconnected(reply) }
      const decided = await waitForDecision(services, watch, gate, limits)
      return { data: toWire(await readAnswer(services, decided)) }
    },
  )
}

/**
 * Rejects a malformed token before the rest of the request is validated, as the gateway does for
 * API keys.
 */
function requirePollToken(authorization: string | undefined): string {
  const token = parseBearerToken(authorization)
  if (token === null || !isPollToken(token)) throw new GatewayRejection(401)
  return token
}

function setHeaders(reply: FastifyReply, { limit, remaining, resetSeconds }: PollAllowance): void {
  reply.header('ratelimit-limit', limit)
  reply.header('ratelimit-remaining', remaining)
  reply.header('ratelimit-reset', resetSeconds)
}

/** Aborts when the client's connection closes. */
function disconnected({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => gone.abort())
  return gone.signal
}
