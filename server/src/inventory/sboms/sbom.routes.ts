import { Type } from 'typebox'
import { formatArtifactKey } from '../../ci/reports/artifact-object.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Closed } from '../../platform/http/schemas.ts'
import { FileResponse, sendFile } from '../../security/uploads/download.routes.ts'
import { getReportKey } from '../../security/uploads/upload-file.ts'
import { findUploadFile } from '../../security/uploads/upload-view.store.ts'
import type { Services } from '../../services.ts'
import { findSbomUpload } from './sbom.store.ts'

const SbomPath = Closed({
  id: Type.String({
    pattern: '^[0-9a-f-]{32,36}$',
    description: 'The id of the upload, or of the artifact that a run sent.',
  }),
})

export async function registerSbomRoutes(app: HttpServer, { sql, objects }: Services): Promise<void> {
  app.get(
    '/v1/sboms/:id/document',
    {
      config: { scope: 'read:security', permission: 'view', feature: 'security_uploads' },
      schema: {
        operationId: 'getSbomDocument',
        summary: 'Download a bill of materials',
        description:
          'Returns the file as it was sent.\n\nErrors: 404 `not_found` also if it is no bill of materials, or is not stored.',
        tags: ['Inventory'],
        params: SbomPath,
        response: { 200: FileResponse },
      },
    },
    async ({ actor, params }, reply) => {
      const id = await findSbomUpload(sql, actor.org_id, params.id)
      // Retention keeps what is evidence of what runs, and removes the rest.
      const file = id === null ? null : await findUploadFile(sql, actor.org_id, id, null)
      if (id === null || file === null) throw createNotFoundError('document')
      const { artifact_id, filename: path, size } = file
      const key = artifact_id === null ? getReportKey(actor.org_id, id) : formatArtifactKey(actor.org_id, artifact_id)
      return sendFile(reply, objects, { key, path, size })
    },
  )
}
