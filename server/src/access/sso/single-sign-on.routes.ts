import type { FastifyRequest } from 'fastify'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { sendData } from '../../platform/http/responses.ts'
import { Envelope, Nullable } from '../../platform/http/schemas.ts'
import { update } from '../../platform/queue/update.ts'
import type { Services } from '../../services.ts'
import { ORGANIZATION_PATH } from '../gateway/authorize-people.ts'
import { OrganizationPath } from '../gateway/open-to-people.ts'
import { toMemberAuthor } from '../members/author.ts'
import { removeProvider, saveProvider } from './configure-provider.ts'
import { buildCallbackUrl } from './provider-sign-in.ts'
import { NewSingleSignOn, SingleSignOn } from './single-sign-on.schema.ts'
import { findStoredProvider } from './single-sign-on.store.ts'

const PATH = `${ORGANIZATION_PATH}/single-sign-on`
const TAGS = ['Single sign-on']

/** The settings of an organization's own identity provider. */
export async function registerSingleSignOnRoutes(app: HttpServer, services: Services): Promise<void> {
  app.get(
    PATH,
    {
      config: { permission: 'manage_members' },
      schema: {
        operationId: 'getSingleSignOn',
        summary: 'Get the settings of single sign-on',
        description: "Returns the organization's own identity provider. `data` is null if it has none.",
        tags: TAGS,
        params: OrganizationPath,
        response: { 200: Envelope(Nullable(SingleSignOn), 'The settings, without the client secret.') },
      },
    },
    ({ actor }, reply) => send(actor.org_id, reply),
  )

  app.put(
    PATH,
    {
      config: { permission: 'manage_members', fresh: true, updates: () => [update('single_sign_on')] },
      schema: {
        operationId: 'configureSingleSignOn',
        summary: 'Set up single sign-on',
        description:
          "Sets the organization's own OpenID provider. A change of the issuer or the client ends the sessions that the " +
          'provider has started.\n\nErrors: 400 `invalid_request`, for example for an unknown role or a new issuer ' +
          'without a client secret. 403 `insufficient_permission` if a role has a permission that you lack.',
        tags: TAGS,
        params: OrganizationPath,
        body: NewSingleSignOn,
        response: { 200: Envelope(SingleSignOn, 'The settings, without the client secret.') },
      },
    },
    async (request, reply) => {
      const { default_role = null, role_claim = null, ...rest } = request.body
      await saveProvider(services, toWriter(request), { ...rest, default_role, role_claim })
      return send(request.actor.org_id, reply)
    },
  )

  app.delete(
    PATH,
    {
      config: { permission: 'manage_members', fresh: true, updates: () => [update('single_sign_on')] },
      schema: {
        operationId: 'removeSingleSignOn',
        summary: 'Remove single sign-on',
        description: "Removes the organization's own identity provider, and ends the sessions that it started.",
        tags: TAGS,
        params: OrganizationPath,
        response: { 204: { type: 'null', description: 'The settings were removed.' } },
      },
    },
    async (request, reply) => {
      await removeProvider(services, toWriter(request))
      return reply.code(204).send(null)
    },
  )

  async function send(orgId: string, reply: Parameters<typeof sendData>[0]) {
    const stored = await findStoredProvider(services.sql, orgId)
    if (stored === null) return sendData(reply, 'null')
    const { org_id: _, sealed_client_secret: __, ...shown } = stored
    return sendData(reply, JSON.stringify({ ...shown, callback_url: buildCallbackUrl(services.config.baseUrl) }))
  }
}

function toWriter({ actor }: Pick<FastifyRequest, 'actor'>) {
  return { orgId: actor.org_id, author: toMemberAuthor(actor) }
}
