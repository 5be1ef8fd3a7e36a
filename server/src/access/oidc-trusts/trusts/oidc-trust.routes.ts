import { Type } from 'typebox'
import type { HttpServer } from '../../../platform/http/http-server.ts'
import { normalizeMissingBody } from '../../../platform/http/json-body.ts'
import { Closed, Envelope } from '../../../platform/http/schemas.ts'
import { update } from '../../../platform/queue/update.ts'
import { listConnectedElsewhere } from '../../../repositories/followed-repository.store.ts'
import type { Services } from '../../../services.ts'
import { toAuthor } from '../../actor.ts'
import { ORGANIZATION_PATH } from '../../gateway/authorize-people.ts'
import { ItemPath, OrganizationPath, WithReason } from '../../gateway/open-to-people.ts'
import { toGrantor } from '../../members/author.ts'
import { explainToken } from './explain-token.ts'
import { createTrust, revokeTrust } from './manage-trusts.ts'
import { TOKEN_CHARS_MAX } from './token-verifier.ts'
import { ExplainedToken, ListedTrust, NewTrust } from './trust.schema.ts'
import { listTrusts } from './trust.store.ts'
import { getDefaultAudience } from './trust-request.ts'

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
    async ({ actor }) => ({ data: await listTrusts(services.sql, actor.org_id) }),
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
          '`upload_security_reports`.\n\nErrors: 400 `invalid_request` for a field that is not valid. 403 ' +
          '`insufficient_permission` with `details.scope` for a scope that your role cannot give. 409 `trust_conflict` ' +
          'if the conditions could match a token of another organization. 409 `too_many_oidc_trusts` if the organization ' +
          'has 1,000 trusts that are neither revoked nor expired.',
        tags,
        params: OrganizationPath,
        body: NewTrust,
        response: { 201: Envelope(ListedTrust, 'The trust was created.') },
      },
    },
    async (request, reply) => {
      const { actor, body } = request
      const { audience = getDefaultAudience(services.config), provider = null, expires_at = null, ...given } = body
      const { trusted_events = [], self_hosted = false } = body
      const terms = { trusted_events, self_hosted }
      const wanted = {
        ...given,
        ...terms,
        audience,
        provider,
        expiresAt: expires_at === null ? null : new Date(expires_at),
      }
      const needs = { ...services, connectedElsewhere: listConnectedElsewhere }
      const trust = await createTrust(needs, actor.org_id, toGrantor(actor, body), wanted)
      request.created = trust.id
      return reply.code(201).send({ data: { ...trust, revoked_at: null, last_used_at: null } })
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
