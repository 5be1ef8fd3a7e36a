import { notFound } from '../../platform/http/errors.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { sendData } from '../../platform/http/responses.ts'
import { Envelope } from '../../platform/http/schemas.ts'
import type { Services } from '../../services.ts'
import { completeUpload } from './complete-upload.ts'
import { createUpload } from './create-upload.ts'
import { CompletedUpload, CreatedUpload, NewSecurityUpload, SecurityUpload, UploadPath } from './upload.schema.ts'
import { findUploadJson } from './upload-view.store.ts'

const access = { scope: 'write:security-findings', feature: 'security_uploads' } as const
const tags = ['Security uploads']

export async function uploadRoutes(app: HttpServer, services: Services): Promise<void> {
  app.post(
    '/v1/security/uploads',
    {
      config: access,
      schema: {
        operationId: 'createSecurityUpload',
        summary: 'Create a security upload',
        description:
          'Registers a SARIF, CycloneDX or SPDX report. PUT the file to the returned address, then complete the upload. ' +
          'The same file for the same repository, category and ref returns the existing upload.',
        tags,
        body: NewSecurityUpload,
        response: { 200: Envelope(CreatedUpload), 201: Envelope(CreatedUpload) },
      },
    },
    async (request, reply) => {
      const { json, put, created } = await createUpload(services, request.actor, request.body as NewSecurityUpload)
      return sendData(reply.code(created ? 201 : 200), `{"upload":${json},"put":${JSON.stringify(put)}}`)
    },
  )

  app.post(
    '/v1/security/uploads/:uploadId/complete',
    {
      config: access,
      schema: {
        operationId: 'completeSecurityUpload',
        summary: 'Complete an upload',
        description:
          'Checks the size and the checksum of the stored file and queues it for reading. ' +
          'A file that does not match is deleted, and the upload fails. Repeated calls return the upload.',
        tags,
        params: UploadPath,
        response: { 200: Envelope(CompletedUpload) },
      },
    },
    async (request, reply) => {
      const json = await completeUpload(services, request.actor, request.params.uploadId)
      return sendData(reply, `{"upload":${json}}`)
    },
  )

  app.get(
    '/v1/security/uploads/:uploadId',
    {
      config: access,
      schema: {
        operationId: 'getSecurityUpload',
        summary: 'Get a security upload',
        description: 'Returns the upload with its status, and with the counts of its findings as they are read.',
        tags,
        params: UploadPath,
        response: { 200: Envelope(SecurityUpload) },
      },
    },
    async (request, reply) => {
      const { org_id } = request.actor
      const json = await findUploadJson(services.sql, org_id, request.params.uploadId, services.clock.now())
      if (json === null) throw notFound('upload')
      return sendData(reply, json)
    },
  )
}
