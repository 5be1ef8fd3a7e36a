import { Type } from 'typebox'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { defineErrorResponse } from '../../platform/http/openapi.ts'
import { Closed, OneOf } from '../../platform/http/schemas.ts'
import type { Services } from '../../services.ts'
import { repositoryFilters } from '../repositories/repository.schema.ts'
import { exportSbom } from './export-sbom.ts'
import { toCycloneDxSbom, toSpdxSbom } from './format-sbom.ts'

const SbomQuery = Closed({
  ...repositoryFilters,
  category: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'Only what documents of this category contain.' }),
  ),
  format: Type.Optional(
    OneOf(['cyclonedx', 'spdx'], { default: 'cyclonedx', description: 'CycloneDX 1.6 or SPDX 2.3, in JSON.' }),
  ),
  vulnerabilities: Type.Optional(
    Type.Boolean({ default: false, description: 'Whether the document names the open and dismissed findings.' }),
  ),
})
const SbomDocument = Type.Object(
  {},
  { additionalProperties: true, description: 'A bill of materials in the requested format.' },
)

export async function registerSbomExportRoutes(app: HttpServer, services: Services): Promise<void> {
  app.get(
    '/v1/security/sbom',
    {
      config: { scope: 'read:security', permission: 'view', feature: 'security_uploads' },
      schema: {
        operationId: 'exportSbom',
        summary: 'Export a bill of materials',
        description:
          'Returns what the newest bills of materials about the tracked branch of a repository contain, merged into one document. Send ' +
          '`repository`, or `provider` and `repository_id`. Each component names the categories and files that it comes from. As long as ' +
          'the contents are the same, so is the document.\n\nErrors: 400 `invalid_request` if no repository is named; 400 ' +
          '`REPOSITORY_AMBIGUOUS` if the repository name exists on more than one code host and `provider` is missing; 404 `not_found` if ' +
          'nothing was reported for the repository; 409 `sbom_too_large` for more than 200,000 components of all documents.',
        tags: ['Inventory'],
        querystring: SbomQuery,
        response: { 200: SbomDocument, 409: defineErrorResponse('`sbom_too_large`: export one category at a time.') },
      },
    },
    async ({ query, actor }) => {
      const sbom = await exportSbom(services, actor, query)
      return query.format === 'spdx' ? toSpdxSbom(sbom) : toCycloneDxSbom(sbom)
    },
  )
}
