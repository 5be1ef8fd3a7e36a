import { Type } from 'typebox'
import { ORGANIZATION_PATH } from '../../access/gateway/authorize-people.ts'
import { OrganizationPath } from '../../access/gateway/open-to-people.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Envelope } from '../../platform/http/schemas.ts'
import { update } from '../../platform/queue/update.ts'
import type { Services } from '../../services.ts'
import { APP_PROVIDERS, type AppProvider } from '../catalogue.ts'
import type { ListedConnection } from '../connections/connection-list.store.ts'
import { listConnectable, requireHostApp, startAppSetup } from './app-setup.ts'
import { AppState, NewSetup, Setup, WaitingInstallation } from './code-host.schema.ts'

const PATH = `${ORGANIZATION_PATH}/code-hosts`
const config = { permission: 'manage_integrations' } as const
const tags = ['Code hosts']

/** Setting up the App of the server, and what waits to be connected. */
export async function registerCodeHostSetupRoutes(app: HttpServer, services: Services): Promise<void> {
  app.post(
    `${PATH}/setup`,
    {
      config: { ...config, fresh: true, updates: () => [update('code_host')] },
      schema: {
        operationId: 'setUpCodeHost',
        summary: 'Start the setup of a code host',
        description:
          'Returns an address at which you create the GitHub App of this server on GitHub. All organizations of the server ' +
          'share the App.\n\nErrors: 409 `already_configured` if the environment of the server names an App, or if another ' +
          'organization uses the App. 403 `server_admin_required` if the server has other organizations, unless they trust ' +
          'each other.',
        tags,
        params: OrganizationPath,
        body: NewSetup,
        response: { 201: Envelope(Setup, 'The address to open.') },
      },
    },
    async ({ actor, body }, reply) => {
      const { provider, organization = null, read_only_alerts = false, public: isPublic = false } = body
      const options = { provider, organization, read_only_alerts, public: isPublic }
      const setup = await startAppSetup(services, actor, options)
      return reply.code(201).send({ data: setup })
    },
  )

  app.get(
    `${PATH}/setup`,
    {
      config,
      schema: {
        operationId: 'getCodeHostSetup',
        summary: 'Get the App of the server',
        description: 'Returns whether the server has an App at GitHub, and where to install it.',
        tags,
        params: OrganizationPath,
        response: { 200: Envelope(AppState, 'The App.') },
      },
    },
    async ({ actor }) => {
      // One host has an App today. With a second one, the request has to name it.
      const [provider] = APP_PROVIDERS as [AppProvider]
      const { source, slug, install_url } = await requireHostApp(services, provider).describe(actor.organization.slug)
      return { data: { provider, source, name: slug, install_url } }
    },
  )

  app.get(
    `${PATH}/waiting`,
    {
      config,
      schema: {
        operationId: 'listWaitingInstallations',
        summary: 'List the installations that wait to be connected',
        description:
          'Returns the installations on code hosts that no organization of the server has connected, oldest first. Their ' +
          'events are stored, and applied once they are connected. If the server has other organizations that do not trust ' +
          'each other, only installations of accounts that this organization had connected last are listed.',
        tags,
        params: OrganizationPath,
        response: { 200: Envelope(Type.Array(WaitingInstallation), 'The waiting installations, at most 1,000.') },
      },
    },
    async ({ actor }) => ({ data: (await listConnectable(services, actor)).map(toWaiting) }),
  )
}

function toWaiting({ id, provider, host, account, repositories, last_event_at }: ListedConnection) {
  return { id, provider, host, account, repositories, last_event_at: last_event_at?.toISOString() ?? null }
}
