import type { HttpServer } from '../../platform/http/http-server.ts'
import { Envelope } from '../../platform/http/schemas.ts'
import type { Services } from '../../services.ts'
import { listPublicKeys } from './list-public-keys.ts'
import { SigningKeys } from './signing-key.schema.ts'

export async function registerSigningKeyRoutes(app: HttpServer, services: Services): Promise<void> {
  app.get(
    '/v1/provenance/keys',
    {
      config: { scope: 'read:attestations', permission: 'view' },
      schema: {
        operationId: 'listSigningKeys',
        summary: 'List signing keys',
        description:
          'Returns the public keys that verify the signed statements of the organization. The first key is made when the ' +
          'keys are first read or a statement is first signed.',
        tags: ['Provenance'],
        response: { 200: Envelope(SigningKeys, 'The public keys.') },
      },
    },
    async (request) => ({ data: { keys: await listPublicKeys(services, request.actor.org_id) } }),
  )
}
