import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { ORGANIZATION_PATH } from '../../access/gateway/authorize-people.ts'
import { OrganizationSlug } from '../../access/gateway/open-to-people.ts'
import { formatArtifactKey } from '../../ci/reports/artifact-object.ts'
import { findUploadedArtifact } from '../../ci/reports/report.store.ts'
import { computeRetentionStart } from '../../organizations/plan.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Closed } from '../../platform/http/schemas.ts'
import { UUID_PATTERN } from '../../platform/ids.ts'
import { ObjectNotFoundError, type ObjectStore } from '../../platform/objects/object-store.ts'
import type { Services } from '../../services.ts'
import { UploadPath } from './upload.schema.ts'
import { getReportKey } from './upload-file.ts'
import { findUploadFile } from './upload-view.store.ts'

const ArtifactPath = Closed({
  org: OrganizationSlug,
  artifact_id: Type.String({ pattern: UUID_PATTERN, description: 'The id of the artifact.' }),
})

/** HEAD would read the whole file, because it is sent as a stream. */
const exposeHeadRoute = false

/** Downloads of the files that jobs and people have sent. */
export async function registerDownloadRoutes(app: HttpServer, services: Services): Promise<void> {
  const { sql, objects, clock } = services

  app.get(
    `${ORGANIZATION_PATH}/artifacts/:artifact_id/download`,
    {
      exposeHeadRoute,
      config: { permission: 'view' },
      schema: {
        operationId: 'downloadArtifact',
        summary: 'Download an artifact',
        description:
          'Returns the file of an artifact with the status `uploaded`. Browsers save it and never show it.\n\nErrors: 404 ' +
          '`not_found` also if the file is not stored.',
        tags: ['Pipeline runs'],
        params: ArtifactPath,
        response: { 200: FileResponse },
      },
    },
    async ({ actor, params }, reply) => {
      const since = computeRetentionStart(actor.plan, clock.now())
      const artifact = await findUploadedArtifact(sql, actor.org_id, params.artifact_id, since)
      if (artifact === null) throw createNotFoundError('artifact')
      return sendFile(reply, objects, { ...artifact, key: formatArtifactKey(actor.org_id, params.artifact_id) })
    },
  )

  app.get(
    `${ORGANIZATION_PATH}/security/uploads/:uploadId/download`,
    {
      exposeHeadRoute,
      config: { permission: 'view', feature: 'security_uploads' },
      schema: {
        operationId: 'downloadSecurityUpload',
        summary: 'Download the file of a security upload',
        description:
          'Returns the report as it was sent. Browsers save it and never show it.\n\nErrors: 404 `not_found` also if the ' +
          'file is not stored: because it was not sent, or because the upload failed.',
        tags: ['Security uploads'],
        params: Closed({ org: OrganizationSlug, ...UploadPath.properties }),
        response: { 200: FileResponse },
      },
    },
    async ({ actor, params }, reply) => {
      const since = computeRetentionStart(actor.plan, clock.now())
      const file = await findUploadFile(sql, actor.org_id, params.uploadId, since)
      if (file === null) throw createNotFoundError('upload')
      const { artifact_id, filename: path, size } = file
      const key =
        artifact_id === null
          ? getReportKey(actor.org_id, params.uploadId)
          : formatArtifactKey(actor.org_id, artifact_id)
      return sendFile(reply, objects, { key, path, size })
    },
  )
}

/** The response 200 of a download in OpenAPI. */
export const FileResponse = {
  description: 'The bytes of the file, with its name in `Content-Disposition`.',
  content: { 'application/octet-stream': { schema: Type.String({ format: 'binary' }) } },
}

/** A file in the object store. `path` gives its name, and may come from anybody. */
type StoredFile = { key: string; path: string; size: number }

/**
 * Streams a file, with constant memory. Browsers save it and never show it, because a file of a job
 * could otherwise run scripts as this server. Throws 404 if the file is not stored.
 */
export async function sendFile(reply: FastifyReply, objects: ObjectStore, { key, path, size }: StoredFile) {
  // Only GET reads the file.
  if (reply.request.method === 'HEAD')
    return reply.type('application/octet-stream').header('content-length', size).send(Readable.from([]))
  const bytes = objects.read(key)[Symbol.asyncIterator]()
  const first = await bytes.next().catch((error: unknown) => {
    throw error instanceof ObjectNotFoundError ? createNotFoundError('file') : error
  })
  reply
    .type('application/octet-stream')
    .header('content-length', size)
    .header('content-disposition', attachmentNamed(path))
    .header('content-security-policy', "sandbox; default-src 'none'")
  return reply.send(Readable.from(continued(first, bytes), { objectMode: false }))
}

async function* continued(first: IteratorResult<Uint8Array>, rest: AsyncIterator<Uint8Array>) {
  try {
    for (let next = first; next.done !== true; next = await rest.next()) yield next.value
  } finally {
    await rest.return?.()
  }
}

/** RFC 6266: the name in UTF-8, and in ASCII for old clients. */
function attachmentNamed(path: string): string {
  const name = (path.split(/[/\\]/).at(-1) || 'file').toWellFormed()
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${name.replace(/[^\w.+-]/g, '_')}"; filename*=UTF-8''${encoded}`
}
