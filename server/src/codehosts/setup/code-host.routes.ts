import { type Static, Type } from 'typebox'
import { toPrincipal } from '../../access/actor.ts'
import { ORGANIZATION_PATH } from '../../access/gateway/authorize-people.ts'
import { OrganizationPath } from '../../access/gateway/open-to-people.ts'
import { DAY_MS } from '../../platform/clock.ts'
import { createInvalidFieldError, createNotFoundError } from '../../platform/http/errors.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { defineErrorResponse } from '../../platform/http/openapi.ts'
import { Envelope } from '../../platform/http/schemas.ts'
import { isUuid } from '../../platform/ids.ts'
import { update } from '../../platform/queue/update.ts'
import type { Services } from '../../services.ts'
import { APP_PROVIDERS, getCodeHost, type Provider } from '../catalogue.ts'
import type { HostCredentials } from '../code-host.ts'
import { connectInstallation } from '../connections/connect-installation.ts'
import { findListed, type ListedConnection, listConnections } from '../connections/connection-list.store.ts'
import { disconnect } from '../connections/remove-connection.job.ts'
import { synchronizeNow } from '../sync/sync-connection.job.ts'
import { requireOwnInstallation } from './app-setup.ts'
import { CodeHostConnection, ConnectionPath, NewConnection, NewSync } from './code-host.schema.ts'

const PATH = `${ORGANIZATION_PATH}/code-hosts`
const config = { permission: 'manage_integrations' } as const
const tags = ['Code hosts']

export async function registerCodeHostRoutes(app: HttpServer, services: Services): Promise<void> {
  connectionRoutes(app, services)
  changeRoutes(app, services)
}

function connectionRoutes(app: HttpServer, services: Services): void {
  app.get(
    PATH,
    {
      config,
      schema: {
        operationId: 'listCodeHosts',
        summary: 'List the connections to code hosts',
        description: 'Returns the connections of the organization with their synchronization, newest first.',
        tags,
        params: OrganizationPath,
        response: { 200: Envelope(Type.Array(CodeHostConnection), 'The connections, at most 1,000.') },
      },
    },
    async ({ actor }) => {
      const listed = await listConnections(services.sql, actor.org_id)
      return { data: listed.map(({ connection }) => toShown(connection)) }
    },
  )

  app.get(
    `${PATH}/:id`,
    {
      config,
      schema: {
        operationId: 'getCodeHost',
        summary: 'Get a connection to a code host',
        description: 'Returns a connection with the progress of its synchronization.',
        tags,
        params: ConnectionPath,
        response: { 200: Envelope(CodeHostConnection, 'The connection.') },
      },
    },
    async ({ actor, params }) => ({ data: await readConnection(services, actor.org_id, params.id) }),
  )
}

function changeRoutes(app: HttpServer, services: Services): void {
  app.post(
    PATH,
    {
      config: { ...config, fresh: true, updates: ({ created }) => [update('code_host', created)] },
      schema: {
        operationId: 'connectCodeHost',
        summary: 'Connect an account on a code host',
        description:
          'Connects an installation of the GitHub App, or an account on another code host, to the organization and starts ' +
          'its synchronization. Connecting it again returns the same connection with the status 200; an account is then ' +
          'read with the new credentials.\n\nErrors: 400 `invalid_credentials` if the code host does not accept the ' +
          'credentials. 403 `host_role_too_low` if their owner may read the account there and not manage it, 403 `server_admin_required` if the server has other organizations that ' +
          'do not trust each other, unless this organization had connected the account last. 404 if the installation does not exist. 409 `not_configured` if ' +
          'the server has no GitHub App, `account_connected` if another organization of the server has the account. 502 ' +
          '`host_unavailable` if the code host cannot be reached.',
        tags,
        params: OrganizationPath,
        body: NewConnection,
        response: {
          200: Envelope(CodeHostConnection, 'The account was connected already.'),
          201: Envelope(CodeHostConnection, 'The account is connected.'),
          502: defineErrorResponse('`host_unavailable`: the code host cannot be reached.'),
        },
      },
    },
    async (request, reply) => {
      const { actor, body } = request
      const wanted = getCodeHost(body.provider).connects === 'app' ? toInstallation(body) : toAccount(body)
      if (wanted.credentials === null) await requireOwnInstallation(services, actor, wanted)
      await services.hostApps.get(body.provider)?.require()
      const made = await connectInstallation(services, { org_id: actor.org_id, ...wanted }, toPrincipal(actor))
      request.created = made.id
      const connection = await readConnection(services, actor.org_id, made.id)
      return reply.code(made.created ? 201 : 200).send({ data: connection })
    },
  )

  app.post(
    `${PATH}/:id/sync`,
    {
      config: { ...config, updates: ({ params }) => [update('code_host', params.id)] },
      preValidation: async (request) => {
        request.body ??= {}
      },
      schema: {
        operationId: 'syncCodeHost',
        summary: 'Synchronize a connection',
        description:
          'Requests a synchronization with the code host. If one is in progress, another one follows. `sync` of the ' +
          'connection shows the progress.\n\nErrors: 409 `not_active` if the connection is suspended or removed.',
        tags,
        params: ConnectionPath,
        body: NewSync,
        response: { 202: Envelope(CodeHostConnection, 'The synchronization was requested.') },
      },
    },
    async ({ actor, params, body }, reply) => {
      const { since_days: days } = body
      const since = days === undefined ? null : new Date(services.clock.now().getTime() - days * DAY_MS)
      const asked = { id: requireConnectionId(params.id), org_id: actor.org_id, since }
      await synchronizeNow(services, asked, toPrincipal(actor))
      return reply.code(202).send({ data: await readConnection(services, actor.org_id, asked.id) })
    },
  )

  app.delete(
    `${PATH}/:id`,
    {
      config: { ...config, fresh: true, updates: ({ params }) => [update('code_host', params.id)] },
      schema: {
        operationId: 'disconnectCodeHost',
        summary: 'Disconnect an account on a code host',
        description:
          'Ends a connection. Its repositories keep their names and their history. Later events of the installation are ' +
          'stored and wait.\n\nErrors: 409 `already_removed` if the connection has ended already.',
        tags,
        params: ConnectionPath,
        response: { 200: Envelope(CodeHostConnection, 'The connection has ended.') },
      },
    },
    async ({ actor, params }) => {
      const removed = { id: requireConnectionId(params.id), org_id: actor.org_id }
      await disconnect(services, removed, toPrincipal(actor))
      return { data: await readConnection(services, actor.org_id, removed.id) }
    },
  )
}

/** Ids of connections are UUIDs, so every other text names no connection. */
function requireConnectionId(id: string): string {
  const lower = id.toLowerCase()
  if (!isUuid(lower)) throw createNotFoundError('connection')
  return lower
}

async function readConnection({ sql }: Services, orgId: string, id: string) {
  const connection = await findListed(sql, orgId, requireConnectionId(id))
  if (connection === null) throw createNotFoundError('connection')
  return toShown(connection)
}

function toShown(listed: ListedConnection) {
  const { account, status, repositories, connected_at, last_event_at, last_synced_at, ...shown } = listed
  if (account === null || repositories === null || connected_at === null || status === 'waiting')
    throw new Error(`The connection ${listed.id} lacks what every connection has.`)
  return {
    ...shown,
    account,
    status,
    repositories,
    connected_at: connected_at.toISOString(),
    last_event_at: last_event_at?.toISOString() ?? null,
    last_synced_at: last_synced_at?.toISOString() ?? null,
  }
}

type Body = Static<typeof NewConnection>
type ConnectRequest = { provider: Provider; installation_id: string; credentials: HostCredentials | null }

/** What to connect. Throws 400 `invalid_request` with the field that is missing or too many. */
function toInstallation({ provider, installation_id, account, credentials }: Body): ConnectRequest {
  if (installation_id === undefined)
    throw createInvalidFieldError('/body/installation_id', `is required for ${provider}`)
  if (account !== undefined) throw createInvalidFieldError('/body/account', `is not used for ${provider}`)
  if (credentials !== undefined) throw createInvalidFieldError('/body/credentials', `is not used for ${provider}`)
  return { provider, installation_id, credentials: null }
}

function toAccount({ provider, installation_id, account, credentials }: Body): ConnectRequest {
  if (installation_id !== undefined)
    throw createInvalidFieldError('/body/installation_id', `is used for ${APP_PROVIDERS.join(' and ')} only`)
  if (account === undefined) throw createInvalidFieldError('/body/account', `is required for ${provider}`)
  if (credentials === undefined) throw createInvalidFieldError('/body/credentials', `is required for ${provider}`)
  return { provider, installation_id: account, credentials: toCredentials(credentials) }
}

function toCredentials(given: NonNullable<Body['credentials']>): HostCredentials {
  const { token, client_id, client_secret, tenant_id } = given
  if (token !== undefined) {
    if (client_id ?? client_secret ?? tenant_id)
      throw createInvalidFieldError('/body/credentials/token', 'cannot be combined with the fields of a client')
    return { type: 'token', token }
  }
  if (client_id === undefined && client_secret === undefined)
    throw createInvalidFieldError('/body/credentials', 'must have a token, or client_id and client_secret')
  if (client_id === undefined)
    throw createInvalidFieldError('/body/credentials/client_id', 'is required with client_secret')
  if (client_secret === undefined)
    throw createInvalidFieldError('/body/credentials/client_secret', 'is required with client_id')
  return { type: 'client', client_id, client_secret, tenant_id: tenant_id ?? null }
}
