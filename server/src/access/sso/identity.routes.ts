import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { createNotFoundError } from '../../platform/http/errors.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { defineErrorResponse } from '../../platform/http/openapi.ts'
import { sendData } from '../../platform/http/responses.ts'
import { Envelope } from '../../platform/http/schemas.ts'
import type { Services } from '../../services.ts'
import { APP_PATH } from '../gateway/authorize-people.ts'
import { removeIdentity } from './admit-person.ts'
import { findProvider } from './open-provider.ts'
import type { Provider } from './provider.ts'
import type { SignInPurpose } from './provider-sign-in.ts'
import { IdentityPath, IdentityUnlinked, LinkedIdentity, LinkStarted, NewIdentity } from './single-sign-on.schema.ts'
import { listIdentities } from './single-sign-on.store.ts'

/** Starts a sign-in of this browser at a provider, and returns the address to which it goes. */
export type StartAtProvider = (
  request: FastifyRequest,
  reply: FastifyReply,
  provider: Provider,
  purpose: SignInPurpose,
) => Promise<URL>

const PATH = `${APP_PATH}/account/identities`
const TAGS = ['Account']

/** The identities at providers of organizations that sign in to the account. */
export function registerIdentityRoutes(app: HttpServer, services: Services, start: StartAtProvider): void {
  app.get(
    PATH,
    {
      config: { signedIn: true, limited: true },
      schema: {
        operationId: 'listIdentities',
        summary: 'List your linked identities',
        description:
          'The identities at the identity providers of organizations that sign in to your account, oldest first, at most 100.',
        tags: TAGS,
        response: { 200: Envelope(Type.Array(LinkedIdentity), 'Your linked identities.') },
      },
    },
    async ({ session }, reply) => sendData(reply, JSON.stringify(await listIdentities(services.sql, session))),
  )

  app.post(
    PATH,
    {
      config: { signedIn: true, fresh: true },
      schema: {
        operationId: 'linkIdentity',
        summary: 'Link an identity',
        description:
          'Starts a sign-in at the identity provider of an organization, which links the identity to your account. Open ' +
          'the returned address in this browser. The identity signs in to this organization only, and your session ' +
          'stays.\n\nErrors: 404 `not_found` if the organization has no provider of its own. 502 ' +
          '`identity_provider_unavailable`.',
        tags: TAGS,
        body: NewIdentity,
        response: {
          200: Envelope(LinkStarted, 'The sign-in was started.'),
          502: defineErrorResponse('`identity_provider_unavailable`: the identity provider cannot be reached.'),
        },
      },
    },
    async (request, reply) => {
      const { organization, next } = request.body
      const provider = await findProvider(services, organization)
      if (provider === null || provider.org_id === null) throw createNotFoundError('single sign-on')
      const address = await start(request, reply, provider, { next, userId: request.session.user_id, links: true })
      return sendData(reply, JSON.stringify({ location: address.href }))
    },
  )

  app.delete(
    `${PATH}/:id`,
    {
      config: { signedIn: true, fresh: true, limited: true },
      schema: {
        operationId: 'unlinkIdentity',
        summary: 'Unlink an identity',
        description:
          'The identity no longer signs in to your account, and the sessions that it has started end. You stay a member ' +
          'of the organization.\n\nErrors: 404 `not_found` if you have no such identity. 409 `last_sign_in_method` if ' +
          'you could not sign in any more.',
        tags: TAGS,
        params: IdentityPath,
        response: { 200: Envelope(IdentityUnlinked, 'The identity was unlinked.') },
      },
    },
    async ({ session, params }) => {
      await removeIdentity(services, session, params.id)
      return { data: { unlinked: true as const } }
    },
  )
}
