import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../../../../platform/http/api-error.ts'
import type { Services } from '../../../../services.ts'
import { CREATED_PATH, formatInstallUrl, INSTALLED_PATH, SETUP_PATH } from './app-manifest.ts'
import {
  type Page,
  renderCreatedPage,
  renderInstalledPage,
  renderManifestPage,
  renderRefusedPage,
} from './app-setup-page.ts'
import { completeSetup, readSetup } from './create-app.ts'

type SetupRequest = FastifyRequest<{ Querystring: Record<string, unknown> }>

const SLUG = /^[a-z0-9][a-z0-9-]{0,62}$/
const INSTALLATION = /^\d{1,20}$/
const PRIVATE = { 'cache-control': 'no-store' }

/**
 * The pages of the manifest flow, outside of /v1. The state in the address is the permission.
 */
export async function registerAppSetupRoutes(app: FastifyInstance, services: Services): Promise<void> {
  app.get<{ Querystring: Record<string, unknown> }>(SETUP_PATH, { schema: { hide: true } }, (request, reply) =>
    sendPage(reply, async () => renderManifestPage(await readSetup(services, parameter(request, 'state')))),
  )
  // A HEAD request would use up the state.
  const options = { schema: { hide: true }, exposeHeadRoute: false }
  app.get<{ Querystring: Record<string, unknown> }>(CREATED_PATH, options, (request, reply) =>
    sendPage(reply, async () => {
      const created = await completeSetup(services, parameter(request, 'state'), parameter(request, 'code'))
      return created.org === null ? renderCreatedPage(created) : formatInstallUrl(created, created.org)
    }),
  )
  app.get<{ Querystring: Record<string, unknown> }>(INSTALLED_PATH, { schema: { hide: true } }, (request, reply) =>
    sendPage(
      reply,
      async () =>
        connectPath(parameter(request, 'state'), parameter(request, 'installation_id')) ?? renderInstalledPage(),
    ),
  )
}

/**
 * The page of the console that offers to connect an installation. Nothing is connected by the
 * address alone. Null without an organization, for an App of the command line.
 */
function connectPath(org: string, installation: string): string | null {
  if (!SLUG.test(org)) return null
  const path = `/orgs/${org}/settings/code-hosts`
  return INSTALLATION.test(installation) ? `${path}?installation=${installation}` : path
}

function parameter({ query }: SetupRequest, name: string): string {
  const value = query[name]
  return typeof value === 'string' ? value : ''
}

/**
 * Sends a page or a redirect, or the reason of a refusal as a page. The address contains a secret.
 */
async function sendPage(reply: FastifyReply, make: () => Promise<Page | string>): Promise<FastifyReply> {
  const made = await make().catch((error) => {
    if (!(error instanceof ApiError)) throw error
    reply.code(error.status)
    return renderRefusedPage(error.message)
  })
  if (typeof made === 'string') return reply.headers(PRIVATE).redirect(made)
  const { html, contentSecurityPolicy } = made
  return reply
    .headers({
      ...PRIVATE,
      'content-security-policy': contentSecurityPolicy,
    })
    .type('text/html; charset=utf-8')
    .send(html)
}
