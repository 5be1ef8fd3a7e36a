import { Type } from 'typebox'
import type { HttpServer } from '../platform/http/http-server.ts'
import { normalizeMissingBody } from '../platform/http/json-body.ts'
import { Envelope } from '../platform/http/schemas.ts'
import { update } from '../platform/queue/update.ts'
import type { Services } from '../services.ts'
import { toAuthor } from './actor.ts'
import { CreatedApiKey, ListedApiKey, NewApiKey } from './api-key.schema.ts'
import { type ApiKey, listApiKeys } from './api-key.store.ts'
import { ORGANIZATION_PATH } from './gateway/authorize-people.ts'
import { ItemPath, OrganizationPath, WithReason } from './gateway/open-to-people.ts'
import { createApiKey, revokeApiKey } from './manage-access.ts'
import { toGrantor } from './members/author.ts'
import { formatReach } from './scopes.ts'

const PATH = `${ORGANIZATION_PATH}/api-keys`
const tags = ['API keys']

export async function registerApiKeyRoutes(app: HttpServer, services: Services): Promise<void> {
  const { sql, clock, config } = services

  app.get(
    PATH,
    {
      config: { permission: 'manage_integrations' },
      schema: {
        operationId: 'listApiKeys',
        summary: 'List API keys',
        description:
          'Returns up to 1,000 keys of the organization, oldest first: those that are not revoked, then those that were ' +
          'revoked last. Expired keys are included.',
        tags,
        params: OrganizationPath,
        response: { 200: Envelope(Type.Array(ListedApiKey), 'The API keys.') },
      },
    },
    async ({ actor }) => ({ data: (await listApiKeys(sql, actor.org_id)).map(withReach) }),
  )

  app.post(
    PATH,
    {
      config: {
        permission: 'manage_integrations',
        fresh: true,
        updates: ({ created }) => [update('api_key', created)],
      },
      schema: {
        operationId: 'createApiKey',
        summary: 'Create an API key',
        description:
          'Creates an API key and returns it. Only its hash is stored, so the key cannot be shown again. Nobody can give ' +
          'a scope whose permission they lack: scopes that start with `read:` require `view`, `write:deployments` ' +
          'requires `answer_deployment_gates`, `write:compliance-override` requires `override_compliance`, ' +
          '`write:security-findings` requires `upload_security_reports`, `write:triage` requires `triage`, and `write:ci` requires `manage_integrations`.\n\n' +
          'Errors: 403 `insufficient_permission` with `details.scope` for a scope that your role cannot give. 409 ' +
          '`too_many_api_keys` if the organization has 1,000 keys that are neither revoked nor expired.',
        tags,
        params: OrganizationPath,
        body: NewApiKey,
        response: { 201: Envelope(CreatedApiKey, 'The key was created.') },
      },
    },
    async (request, reply) => {
      const { actor, body } = request
      const { name, scopes, environment = config.environment, expires_at = null, repositories = null } = body
      const expiresAt = expires_at === null ? null : new Date(expires_at)
      const wanted = { name, scopes, environment, expiresAt, repositories, grantor: toGrantor(actor, body) }
      const key = await sql.begin((tx) => createApiKey(tx, actor.org_id, wanted, clock.now()))
      request.created = key.id
      return reply.code(201).send({ data: withReach({ ...key, revoked_at: null, last_used_at: null }) })
    },
  )

  app.post(
    `${PATH}/:id/revoke`,
    {
      config: {
        permission: 'manage_integrations',
        fresh: true,
        updates: ({ params }) => [update('api_key', params.id)],
      },
      preValidation: normalizeMissingBody,
      schema: {
        operationId: 'revokeApiKey',
        summary: 'Revoke an API key',
        description:
          'Revokes an API key for good. All servers reject it at once. Safe to repeat: the time of the first revocation ' +
          'stays.\n\nErrors: 404 `not_found` if the organization has no such key.',
        tags,
        params: ItemPath,
        body: WithReason,
        response: { 200: Envelope(ListedApiKey, 'The key is revoked.') },
      },
    },
    async ({ actor, params, body }) => ({
      data: withReach(await revokeApiKey(services, { org_id: actor.org_id, id: params.id }, toAuthor(actor, body))),
    }),
  )
}

function withReach<Key extends Pick<ApiKey, 'scopes' | 'repositories'>>(key: Key): Key & { reach: string } {
  return { ...key, reach: formatReach({ speaks_as: 'api_key', ...key }) }
}
