import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { ORGANIZATION_PATH } from '../access/gateway/authorize-people.ts'
import { OrganizationPath } from '../access/gateway/open-to-people.ts'
import type { Membership } from '../access/sign-in/session.store.ts'
import { defineSessionCookie, hashSessionToken, readSessionCookie } from '../access/sign-in/session.ts'
import type { HttpServer } from '../platform/http/http-server.ts'
import type { Services } from '../services.ts'
import { EventHub, type EventStream } from './event-hub.ts'

const EventsResponse = {
  description: 'A stream of server-sent events that does not end by itself.',
  content: { 'text/event-stream': { schema: Type.String() } },
}

export async function registerEventRoutes(app: HttpServer, services: Services): Promise<void> {
  const cookie = defineSessionCookie(services.config.baseUrl)
  const hub = new EventHub(services)
  const stopListening = await hub.listen()
  // The server waits for open responses before it closes.
  app.addHook('preClose', async () => hub.stop())
  app.addHook('onClose', stopListening)

  app.get(
    `${ORGANIZATION_PATH}/events`,
    {
      // A response to HEAD would not end.
      exposeHeadRoute: false,
      config: { permission: 'view' },
      schema: {
        operationId: 'streamEvents',
        summary: 'Stream live updates',
        description:
          'Returns a stream of server-sent events that name what has changed in the organization. Read the named objects ' +
          'again: an event contains no data of them.\n\n- Each message is `{"type": "run", "id": "…"}`. A null `id` stands ' +
          'for any number of objects of the type. docs/application-api.md lists the types.\n- The event `resync` means that ' +
          'messages may have been lost. Read everything again.\n- A comment arrives every 20 seconds, so that a client ' +
          'notices a lost connection.\n\nThe stream ends when the session ends, when the person leaves the organization, and ' +
          'when their permissions change. Open one stream per browser, not per tab.\n\nErrors: 429 `rate_limited` if the ' +
          'person has 20 open streams.',
        tags: ['Live updates'],
        params: OrganizationPath,
        response: { 200: EventsResponse },
      },
    },
    async (request, reply) => {
      const tokenSha256 = hashSessionToken(readSessionCookie(request, cookie) ?? '')
      const { user_id: userId, membership } = request.session
      const stream = hub.open({ userId, tokenSha256, membership: membership as Membership })
      // The client has read an earlier stream, and may have missed events since.
      if (request.headers['last-event-id'] !== undefined) stream.resync()
      return sendEvents(reply, stream)
    },
  )
}

function sendEvents(reply: FastifyReply, { readable }: EventStream): FastifyReply {
  // The header turns the buffering of nginx off.
  return reply.type('text/event-stream; charset=utf-8').header('x-accel-buffering', 'no').send(readable)
}
