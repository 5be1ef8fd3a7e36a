import type { FastifyInstance } from 'fastify'
import { ApiError, notFound } from '../../platform/http/errors.ts'
import { counter } from '../../platform/telemetry/metrics.ts'
import { PROVIDERS, type Provider } from '../../repositories/repository-identity.ts'
import type { Services } from '../../services.ts'
import { WebhookBodies } from './read-webhook-body.ts'
import { DeliveryIntake } from './store-delivery.ts'

const received = counter(
  'shiplock_webhooks_received_total',
  'Webhooks that arrived: accepted, with a wrong signature, or unreadable.',
  ['provider', 'outcome'],
)

type WebhookRequest = { Params: { provider: string } }

/**
 * `POST /webhooks/{provider}`. The signature over the raw body is the permission; no API key is
 * needed. Register it as a plugin, so that bodies arrive unread.
 */
export async function webhookRoutes(app: FastifyInstance, services: Services): Promise<void> {
  const { codeHosts, clock } = services
  const bodies = new WebhookBodies()
  const intake = new DeliveryIntake(services)
  app.addHook('onClose', () => intake.close())
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _body, done) => done(null))

  app.post<WebhookRequest>('/webhooks/:provider', { schema: { hide: true } }, async (request, reply) => {
    const provider = PROVIDERS.find((known) => known === request.params.provider)
    const webhooks = provider && codeHosts.get(provider)?.webhooks
    if (!webhooks) throw notFound('code host')
    return bodies.read(request, async (body) => {
      if (!(await webhooks.verify(body, request.headers))) {
        received.inc({ provider, outcome: 'wrong_signature' })
        return reply.code(401).send()
      }
      const head = webhooks.readHead(body, request.headers)
      received.inc({ provider, outcome: head === null ? 'unreadable' : 'accepted' })
      if (head === null) throw unreadable(provider)
      await intake.store({ ...head, provider, received_at: clock.now() })
      return reply.code(202).send()
    })
  })
}

function unreadable(provider: Provider): ApiError {
  return new ApiError(
    400,
    'invalid_request',
    `The body is not JSON, or a header with the event or the id of the delivery is missing. Configure the webhook at ${provider} to send application/json.`,
  )
}
