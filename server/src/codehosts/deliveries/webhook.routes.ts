import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ApiError } from '../../platform/http/api-error.ts'
import { createNotFoundError, invalidRequest } from '../../platform/http/errors.ts'
import { isUuid } from '../../platform/ids.ts'
import { defineCounter } from '../../platform/metrics.ts'
import type { Services } from '../../services.ts'
import { PROVIDERS, type Provider } from '../catalogue.ts'
import type { DeliveryTarget } from '../code-host.ts'
import { findConnection } from '../connections/connection.store.ts'
import { DeliveryIntake } from './delivery-intake.ts'
import { WebhookBodies } from './read-webhook-body.ts'

const received = defineCounter(
  'shiplock_webhooks_received_total',
  'Webhooks that arrived: accepted, with a wrong or missing signature, or unreadable.',
  ['provider', 'outcome'],
)

type WebhookRequest = { Params: { provider: string; connection?: string } }

/**
 * `POST /webhooks/{provider}` for the events of our App, and `POST
 * /webhooks/{provider}/{connection}` for those of a connection with webhooks of its own. The
 * signature over the raw body is the permission; no API key is needed. Register it as a plugin, so
 * that bodies arrive unread.
 */
export async function registerWebhookRoutes(app: FastifyInstance, services: Services): Promise<void> {
  const { codeHosts, clock } = services
  const bodies = new WebhookBodies()
  const intake = new DeliveryIntake(services)
  app.addHook('onClose', () => intake.close())
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _body, done) => done(null))

  const receive = async (request: FastifyRequest<WebhookRequest>, reply: FastifyReply) => {
    const { connection } = request.params
    const provider = PROVIDERS.find((known) => known === request.params.provider)
    const codeHost = provider && (await codeHosts.get(provider))
    if (!codeHost || (codeHost.connects === 'app') !== (connection === undefined))
      throw createNotFoundError('code host')
    const { webhooks } = codeHost
    const refuse = () => {
      received.inc({ provider, outcome: 'wrong_signature' })
      return reply.code(401).send()
    }
    const target = connection === undefined ? null : await findTarget(services, provider, connection)
    const isOurs = connection === undefined || target !== null
    // Before anything of the body is read.
    if (!isOurs || !webhooks.hasSignature(request.headers, target)) return refuse()
    return bodies.read(request, async (body) => {
      if (!(await webhooks.verify(body, request.headers, target))) return refuse()
      const head = webhooks.readHead(body, request.headers, target)
      received.inc({ provider, outcome: head === null ? 'unreadable' : 'accepted' })
      if (head === null) throw unreadable(provider)
      await intake.store({ ...head, provider, received_at: clock.now() })
      return reply.code(202).send()
    })
  }
  const options = { schema: { hide: true }, config: { longBody: true as const } }
  app.post<WebhookRequest>('/webhooks/:provider', options, receive)
  app.post<WebhookRequest>('/webhooks/:provider/:connection', options, receive)
}

/** Null if there is no such connection, or it has ended. */
async function findTarget(
  { sql, secretsOfConnections }: Services,
  provider: Provider,
  connectionId: string,
): Promise<DeliveryTarget | null> {
  if (!isUuid(connectionId)) return null
  const [connection, secrets] = await Promise.all([
    findConnection(sql, connectionId),
    secretsOfConnections.read(connectionId),
  ])
  if (!connection || !secrets || connection.provider !== provider || connection.status === 'removed') return null
  return { installation_id: connection.installation_id, secret: secrets.webhook_secret }
}

function unreadable(provider: Provider): ApiError {
  return invalidRequest(
    `The body is not JSON, or a header with the event or the id of the delivery is missing. Configure the webhook at ${provider} to send application/json.`,
  )
}
