import { Type } from 'typebox'
import type { HttpServer } from '../../../platform/http/http-server.ts'
import { normalizeMissingBody } from '../../../platform/http/json-body.ts'
import { Closed, Envelope } from '../../../platform/http/schemas.ts'
import { update } from '../../../platform/queue/update.ts'
import { listConnectedAt } from '../../../repositories/followed-repository.store.ts'
import type { Services } from '../../../services.ts'
import { toAuthor } from '../../actor.ts'
import { ORGANIZATION_PATH } from '../../gateway/authorize-people.ts'
import { ItemPath, OrganizationPath, WithReason } from '../../gateway/open-to-people.ts'
import { toGrantor } from '../../members/author.ts'
import { explainToken } from './explain-token.ts'
import { createTrust, listTrustsWithPins, removePins, revokeTrust } from './manage-trusts.ts'
import { TOKEN_CHARS_MAX } from './token-verifier.ts'
import { ExplainedToken, ListedTrust, NewTrust, ReleasedPin } from './trust.schema.ts'

const PATH = `${ORGANIZATION_PATH}/oidc-trusts`
const tags = ['OIDC trusts']

export async function registerOidcTrustRoutes(app: HttpServer, services: Services): Promise<void> {
  app.get(
    PATH,
    {
      config: { permission: 'manage_integrations' },
      schema: {
        operationId: 'listOidcTrusts',
        summary: 'List OIDC trusts',
        description:
          'Returns up to 1,000 trusts of the organization, oldest first: those that are not revoked, then those that were ' +
          'revoked last. Expired trusts are included.',
        tags,
        params: OrganizationPath,
        response: { 200: Envelope(Type.Array(ListedTrust), 'The OIDC trusts.') },
      },
    },
    async ({ actor }) => ({ data: await listTrustsWithPins(services.sql, actor.org_id) }),
  )

  app.post(
    PATH,
    {
      config: {
        permission: 'manage_integrations',
        fresh: true,
        updates: ({ created }) => [update('oidc_trust', created)],
      },
      schema: {
        operationId: 'createOidcTrust',
        summary: 'Create an OIDC trust',
        description:
          'Accepts the OIDC tokens of CI jobs that satisfy all conditions, in place of an API key. The conditions must name ' +
          'the owner or the id of what is trusted. The scope `write:security-findings` requires the permission ' +
          '`upload_security_reports`. Where several organizations share the server, the audience is `job_audience` of the ' +
          'organization.\n\nErrors: 400 `invalid_request` for a field that is not valid. 403 ' +
          '`insufficient_permission` with `details.scope` for a scope that your role cannot give, and without the permission ' +
          '`manage_members` for `speaks_for`. 409 ' +
          '`too_many_oidc_trusts` if the organization has 1,000 trusts that are neither revoked nor expired.',
        tags,
        params: OrganizationPath,
        body: NewTrust,
        response: { 201: Envelope(ListedTrust, 'The trust was created.') },
      },
    },
    async (request, reply) => {
      const { actor, body } = request
      const { audience = null, provider = null, expires_at = null, ...given } = body
      const { trusted_events = [], self_hosted = false, speaks_for = [], as = 'uploaded' } = body
      const terms = { trusted_events, self_hosted, speaks_for, as }
      const wanted = {
        ...given,
        ...terms,
        audience,
        provider,
        expiresAt: expires_at === null ? null : new Date(expires_at),
      }
      const needs = { ...services, connectedRepositories: listConnectedAt }
      const trust = await createTrust(needs, actor.org_id, toGrantor(actor, body), wanted)
      request.created = trust.id
      return reply.code(201).send({ data: trust })
    },
  )

  app.post(
    `${PATH}/:id/revoke`,
    {
      config: {
        permission: 'manage_integrations',
        fresh: true,
        updates: ({ params }) => [update('oidc_trust', params.id)],
      },
      preValidation: normalizeMissingBody,
      schema: {
        operationId: 'revokeOidcTrust',
        summary: 'Revoke an OIDC trust',
        description:
          'Revokes an OIDC trust for good. All servers reject its tokens at once. Safe to repeat: the time of the first ' +
          'revocation stays.\n\nErrors: 404 `not_found` if the organization has no such trust.',
        tags,
        params: ItemPath,
        body: WithReason,
        response: { 200: Envelope(ListedTrust, 'The trust is revoked.') },
      },
    },
    async ({ actor, params, body }) => ({
      data: await revokeTrust(services, { org_id: actor.org_id, id: params.id }, toAuthor(actor, body)),
    }),
  )

  app.post(
    `${PATH}/:id/unpin`,
    {
      config: {
        permission: 'manage_integrations',
        fresh: true,
        updates: ({ params }) => [update('oidc_trust', params.id)],
      },
      preValidation: normalizeMissingBody,
      schema: {
        operationId: 'unpinOidcTrust',
        summary: 'Release a name of an OIDC trust',
        description:
          'Each name that a trust lets in is pinned to the id that it had first, and refused with another id: the name ' +
          'could belong to somebody else. This releases a name, or all. The next token pins it to its id.\n\nErrors: 404 ' +
          '`not_found` if the organization has no such trust, or the trust has not pinned the name.',
        tags,
        params: ItemPath,
        body: ReleasedPin,
        response: { 200: Envelope(ListedTrust, 'The name is released.') },
      },
    },
    async ({ actor, params, body }) => {
      const released = { org_id: actor.org_id, id: params.id, pin: body.name ?? null }
      return { data: await removePins(services, released, toAuthor(actor, body)) }
    },
  )

  app.post(
    `${PATH}/test`,
    {
      config: { permission: 'manage_integrations', updates: 'none' },
      schema: {
        operationId: 'testOidcToken',
        summary: 'Test an OIDC token',
        description:
          'Verifies the OIDC token of a CI job as the API does, and compares it with every live trust of the organization. ' +
          'The token is not stored. It may be expired: the comparison does not need a valid token.',
        tags,
        params: OrganizationPath,
        body: Closed({
          token: Type.String({ minLength: 1, maxLength: TOKEN_CHARS_MAX, description: 'The token, a signed JWT.' }),
        }),
        response: { 200: Envelope(ExplainedToken, 'Whether the organization accepts the token, and why.') },
      },
    },
    async ({ actor, body }) => ({ data: await explainToken(services, actor.org_id, body.token.trim()) }),
  )
}
