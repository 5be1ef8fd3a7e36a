import { Type } from 'typebox'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Closed, OneOf } from '../../platform/http/schemas.ts'
import type { Services } from '../../services.ts'
import { repositoryFilters } from '../repositories/repository.schema.ts'
import { exportVex } from './export-vex.ts'
import { toCycloneDxDocument, toOpenVexDocument } from './format-document.ts'

const VexQuery = Closed({
  ...repositoryFilters,
  format: Type.Optional(
    OneOf(['openvex', 'cyclonedx'], {
      default: 'openvex',
      description: 'The format of the document: OpenVEX 0.2 or CycloneDX 1.6.',
    }),
  ),
})

const VexDocument = Type.Object(
  {},
  {
    additionalProperties: true,
    description: 'A document in the requested format, as its specification defines it. It is not wrapped in `data`.',
  },
)

export async function registerVexRoutes(app: HttpServer, services: Services): Promise<void> {
  app.get(
    '/v1/security/vex',
    {
      config: { scope: 'read:security', permission: 'view' },
      schema: {
        operationId: 'exportVex',
        summary: 'Export a VEX document',
        description:
          'Returns what people and imported VEX documents have stated about the vulnerable packages of a repository, as a VEX ' +
          'document. Send `repository`, or `provider` and `repository_id`. The id of the document does not change, and its version grows with each change of the contents.\n\n' +
          'Errors: 400 `invalid_request` if no repository is named; 400 `REPOSITORY_AMBIGUOUS` if the repository name exists on more than one code host and `provider` is missing; ' +
          '404 `not_found` if nothing was reported for the repository.',
        tags: ['Findings and issues'],
        querystring: VexQuery,
        response: { 200: VexDocument },
      },
    },
    async ({ query, actor }) => {
      const document = await exportVex(services, actor, query)
      return query.format === 'cyclonedx' ? toCycloneDxDocument(document) : toOpenVexDocument(document)
    },
  )
}
