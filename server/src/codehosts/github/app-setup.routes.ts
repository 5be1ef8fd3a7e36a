import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import { CREATED_PATH, SETUP_PATH } from './app-manifest.ts'
import { createdPage, manifestPage, type Page, refusedPage } from './app-setup-page.ts'
import { completeSetup, readSetup } from './create-app.ts'

type SetupRequest = FastifyRequest<{ Querystring: Record<string, unknown> }>

/**
 * The two pages of the manifest flow, outside of /v1. The state in the address is the permission.
 */
export async function appSetupRoutes(app: FastifyInstance, services: Services): Promise<void> {
  app.get<{ Querystring: Record<string, unknown> }>(SETUP_PATH, { schema: { hide: true } }, (request, reply) =>
    sendPage(reply, async () => manifestPage(await readSetup(services, parameter(request, 'state')))),
  )
  // A HEAD request would use up the state.
  const options = { schema: { hide: true }, exposeHeadRoute: false }
  app.get<{ Querystring: Record<string, unknown> }>(CREATED_PATH, options, (request, reply) =>
    sendPage(reply, async () =>
      createdPage(await completeSetup(services, parameter(request, 'state'), parameter(request, 'code'))),
    ),
  )
}

function parameter({ query }: SetupRequest, name: string): string {
  const value = query[name]
  return typeof value === 'string' ? value : ''
}

/** Sends a page, or the reason of a refusal as a page. The address contains a secret. */
async function sendPage(reply: FastifyReply, make: () => Promise<Page>): Promise<FastifyReply> {
  const { html, contentSecurityPolicy } = await make().catch((error) => {
    if (!(error instanceof ApiError)) throw error
    reply.code(error.status)
    return refusedPage(error.message)
  })
  return reply
    .headers({
      'content-security-policy': contentSecurityPolicy,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    })
    .type('text/html; charset=utf-8')
    .send(html)
}
