import { listContext, toPrincipal } from '../../access/actor.ts'
import { computeRetentionStart } from '../../organizations/plan.ts'
import { listRows } from '../../platform/db/page.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { readPage, sendPage } from '../../platform/http/lists.ts'
import { ForbiddenResponse } from '../../platform/http/openapi.ts'
import { sendData } from '../../platform/http/responses.ts'
import { Envelope, ListEnvelope } from '../../platform/http/schemas.ts'
import { update } from '../../platform/queue/update.ts'
import type { Services } from '../../services.ts'
import { formatTitles, REPORT_FORMATS, VEX_FORMATS } from '../formats/catalogue.ts'
import { selectRepositories } from '../repositories/select-repository.ts'
import { confirmProposals } from '../vex/confirm-proposals.ts'
import { completeUpload, confirmHeld } from './complete-upload.ts'
import { createUpload } from './create-upload.ts'
import { checkUploadRepository, requireRepositoryOfKey } from './token-upload.ts'
import {
  CompletedUpload,
  CreatedUpload,
  NewSecurityUpload,
  SecurityUpload,
  UploadPath,
  UploadQuery,
} from './upload.schema.ts'
import { findUploadJson, findUploadRepository, listUploads } from './upload-view.store.ts'

const access = {
  scope: 'write:security-findings',
  permission: 'upload_security_reports',
  feature: 'security_uploads',
} as const
const tags = ['Security uploads']

export async function registerUploadRoutes(app: HttpServer, services: Services): Promise<void> {
  app.post(
    '/v1/security/uploads',
    {
      config: { ...access, updates: ({ created }) => [update('security_upload', created)] },
      schema: {
        operationId: 'createSecurityUpload',
        summary: 'Create a security upload',
        description:
          `Registers a ${formatTitles(REPORT_FORMATS, 'or')} report, or an ${formatTitles(VEX_FORMATS, 'or')} VEX document (201). Send the file to the ` +
          'returned URL with a PUT request, then complete the upload. The same file for the same repository, category and ref returns the existing upload ' +
          '(200). Safe to repeat.\n\nErrors: 400 `REPOSITORY_AMBIGUOUS` if the repository name exists on more than one ' +
          'code host and `provider` is missing. 403 `forbidden` if an OIDC token names another repository than its own. 413 `payload_too_large` if the plan does not allow a file of this size. ' +
          '429 `rate_limited` if the repository and commit have reached the limit of the plan, or if 2,000 uploads or ' +
          '4 GiB of the same kind of sender wait to be read.',
        tags,
        body: NewSecurityUpload,
        response: {
          200: Envelope(CreatedUpload, 'The existing upload.'),
          201: Envelope(CreatedUpload, 'The upload was created.'),
          403: ForbiddenResponse,
        },
      },
    },
    async (request, reply) => {
      const { id, json, put, created } = await createUpload(services, request.actor, request.body as NewSecurityUpload)
      request.created = id
      return sendData(reply.code(created ? 201 : 200), `{"upload":${json},"put":${JSON.stringify(put)}}`)
    },
  )

  app.post(
    '/v1/security/uploads/:uploadId/complete',
    {
      config: { ...access, updates: ({ params }) => [update('security_upload', params.uploadId)] },
      schema: {
        operationId: 'completeSecurityUpload',
        summary: 'Complete a security upload',
        description:
          'Compares the file with its declared size and checksum, and queues it for reading. If the file does not match, ' +
          'it is deleted and the upload fails. An upload that was completed before is returned unchanged. Safe to ' +
          'repeat.\n\nErrors: 403 `forbidden` if the upload is for another repository than that of the OIDC token. 409 ' +
          '`file_missing` if the file has not been sent. The upload stays `pending`.',
        tags,
        params: UploadPath,
        response: { 200: Envelope(CompletedUpload, 'The upload.') },
      },
    },
    async (request, reply) => {
      const json = await completeUpload(services, request.actor, request.params.uploadId)
      return sendData(reply, `{"upload":${json}}`)
    },
  )

  app.post(
    '/v1/security/uploads/:uploadId/confirm',
    {
      config: {
        scope: 'write:triage',
        permission: 'triage',
        feature: access.feature,
        updates: ({ params }) => [update('security_upload', params.uploadId)],
      },
      schema: {
        operationId: 'confirmSecurityUpload',
        summary: 'Confirm a security upload',
        description:
          'Lets a report close what it held (`held`), because it is complete, unless it is cut; it is read again. Or puts ' +
          'the VEX document of an upload into effect. A document whose sender has neither the permission `triage` nor ' +
          'the scope `write:triage` is a proposal until then (`awaits_confirmation`).\n\nErrors: 403 `forbidden` if the ' +
          'API key is limited to other repositories. 404 `not_found`. 409 ' +
          '`not_proposed` if nothing of the upload waits for it. 409 `uploader_refused` for whoever sent it. 503 ' +
          '`unavailable` if a report of the repository is being processed.',
        tags,
        params: UploadPath,
        response: { 200: Envelope(CompletedUpload, 'The upload.') },
      },
    },
    async ({ actor, params: { uploadId } }, reply) => {
      const repository = await findUploadRepository(services.sql, actor.org_id, uploadId)
      if (repository === null) throw createNotFoundError('upload')
      await requireRepositoryOfKey(services.sql, actor, repository)
      const upload = { id: uploadId, repository_no: repository.no }
      const principal = toPrincipal(actor)
      const isHeld = await confirmHeld(services, principal, { org_id: actor.org_id, id: uploadId })
      if (!isHeld) await confirmProposals(services, actor.org_id, principal, upload)
      const json = await findUploadJson(services.sql, actor.org_id, uploadId, { now: services.clock.now() })
      return sendData(reply, `{"upload":${json}}`)
    },
  )

  app.get(
    '/v1/security/uploads',
    {
      config: { scope: 'read:security', permission: 'view', feature: 'security_uploads' },
      schema: {
        operationId: 'listSecurityUploads',
        summary: 'List security uploads',
        description:
          'Returns the security uploads of the organization, newest first, including the reports that were read from ' +
          'artifacts of CI jobs.\n\nErrors: 400 `REPOSITORY_AMBIGUOUS` if the repository name exists on more than one ' +
          'code host and `provider` is missing.',
        tags,
        querystring: UploadQuery,
        response: { 200: ListEnvelope(SecurityUpload, 'A page of uploads.') },
      },
    },
    async (request, reply) => {
      const { query, actor } = request
      const context = listContext(services, request)
      const page = readPage(query, context)
      const repositories = await selectRepositories(services.sql, actor.org_id, query)
      const selection = { ...repositories, status: query.status ?? null, runId: query.run_id ?? null, now: context.now }
      const { sql } = services
      const listed = await listRows(sql, { page, query }, (shown) => listUploads(sql, actor.org_id, shown, selection))
      return sendPage(reply, { ...listed, page, query, context })
    },
  )

  app.get(
    '/v1/security/uploads/:uploadId',
    {
      config: { ...access, permission: ['view', 'upload_security_reports'] },
      schema: {
        operationId: 'getSecurityUpload',
        summary: 'Get a security upload',
        description:
          'Returns the upload with its status and counts. While it is `parsing`, the counts show the progress.\n\n' +
          'Errors: 403 `forbidden` if the upload is for another repository than that of the OIDC token.',
        tags,
        params: UploadPath,
        response: { 200: Envelope(SecurityUpload, 'The upload.') },
      },
    },
    async (request, reply) => {
      const { org_id, plan } = request.actor
      await checkUploadRepository(services.sql, request.actor, request.params.uploadId)
      const now = services.clock.now()
      const shown = { now, since: computeRetentionStart(plan, now) }
      const json = await findUploadJson(services.sql, org_id, request.params.uploadId, shown)
      if (json === null) throw createNotFoundError('upload')
      return sendData(reply, json)
    },
  )
}
