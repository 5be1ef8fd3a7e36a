import { listContext, toPrincipal } from '../../access/actor.ts'
import { ORGANIZATION_PATH } from '../../access/gateway/authorize-people.ts'
import { OrganizationPath } from '../../access/gateway/open-to-people.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { readPage, sendPage } from '../../platform/http/lists.ts'
import { sendData } from '../../platform/http/responses.ts'
import { Envelope, ListEnvelope } from '../../platform/http/schemas.ts'
import { update } from '../../platform/queue/update.ts'
import type { Services } from '../../services.ts'
import { findOwnDelivery, findOwnPayload, listOwnDeliveries } from '../deliveries/delivery.store.ts'
import { replayDelivery } from '../deliveries/delivery-intake.ts'
import { DeliveryPath, DeliveryPayload, DeliveryQuery, HostDelivery, PAYLOAD_CHARS_MAX } from './code-host.schema.ts'

const PATH = `${ORGANIZATION_PATH}/code-hosts/deliveries`
const config = { permission: 'manage_integrations' } as const
const tags = ['Code hosts']

/** The webhook deliveries of the installations that an organization has connected. */
export async function registerDeliveryRoutes(app: HttpServer, services: Services): Promise<void> {
  app.get(
    PATH,
    {
      config,
      schema: {
        operationId: 'listHostDeliveries',
        summary: 'List webhook deliveries',
        description:
          'Returns the webhook deliveries of the connected code hosts, newest first. Deliveries are kept for 90 days.',
        tags,
        params: OrganizationPath,
        querystring: DeliveryQuery,
        response: { 200: ListEnvelope(HostDelivery, 'A page of deliveries.') },
      },
    },
    async (request, reply) => {
      const { query, actor } = request
      const context = listContext(services, request)
      const page = readPage(query, context)
      const rows = await listOwnDeliveries(services.sql, actor.org_id, page, query.status)
      return sendPage(reply, { rows, page, query, context })
    },
  )

  app.get(
    `${PATH}/:delivery`,
    {
      config,
      schema: {
        operationId: 'getHostDelivery',
        summary: 'Get a webhook delivery',
        description: 'Returns a webhook delivery of a connected code host, without its payload.',
        tags,
        params: DeliveryPath,
        response: { 200: Envelope(HostDelivery, 'The delivery.') },
      },
    },
    async ({ actor, params }, reply) => sendOwnDelivery(reply, services, actor.org_id, params.delivery),
  )

  app.get(
    `${PATH}/:delivery/payload`,
    {
      config,
      schema: {
        operationId: 'getHostDeliveryPayload',
        summary: 'Get the payload of a webhook delivery',
        description:
          'Returns the body of a webhook delivery of a connected code host as text.\n\nErrors: 404 `not_found` if there is ' +
          'no such delivery, or if its payload has expired.',
        tags,
        params: DeliveryPath,
        response: { 200: Envelope(DeliveryPayload, 'The payload.') },
      },
    },
    async ({ actor, params }) => {
      const found = await findOwnPayload(services.sql, { orgId: actor.org_id, id: params.delivery }, PAYLOAD_CHARS_MAX)
      if (found === null) throw createNotFoundError('payload')
      return { data: found }
    },
  )

  app.post(
    `${PATH}/:delivery/replay`,
    {
      config: { ...config, updates: () => [update('code_host')] },
      schema: {
        operationId: 'replayHostDelivery',
        summary: 'Replay a webhook delivery',
        description:
          'Applies a delivery again that was applied, ignored or failed.\n\nErrors: 409 `not_replayable` if the delivery ' +
          'has not been applied yet, or if its payload has expired.',
        tags,
        params: DeliveryPath,
        response: { 202: Envelope(HostDelivery, 'The delivery is applied again.') },
      },
    },
    async ({ actor, params: { delivery: id } }, reply) => {
      await replayDelivery(services, { id, org_id: actor.org_id }, toPrincipal(actor))
      return sendOwnDelivery(reply.code(202), services, actor.org_id, id)
    },
  )
}

async function sendOwnDelivery(reply: Parameters<typeof sendData>[0], { sql }: Services, orgId: string, id: string) {
  const json = await findOwnDelivery(sql, orgId, id)
  if (json === null) throw createNotFoundError('delivery')
  return sendData(reply, json)
}
