import { listContext } from '../../access/actor.ts'
import { computeRetentionStart } from '../../organizations/plan.ts'
import { listRows } from '../../platform/db/page.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { readPage, sendPage } from '../../platform/http/lists.ts'
import { defineErrorResponse } from '../../platform/http/openapi.ts'
import { sendData } from '../../platform/http/responses.ts'
import { Envelope, ListEnvelope } from '../../platform/http/schemas.ts'
import type { Services } from '../../services.ts'
import { Change, ChangePath, ChangeQuery, ListedChange } from './change.schema.ts'
import { findChangeJson, listChanges } from './change-list.store.ts'
import { findChangedRepositories, requireChange } from './require-change.ts'

export async function registerChangeRoutes(app: HttpServer, services: Services): Promise<void> {
  app.get(
    '/v1/changes',
    {
      config: { scope: 'read:attestations', permission: 'view' },
      schema: {
        operationId: 'listChanges',
        summary: 'List changes',
        description:
          'Returns the changes that landed on tracked branches of connected repositories, newest first. Filters can be ' +
          'combined. A change that is longer than 16 KiB is listed without its long parts, which `omitted` names.\n\n' +
          'Errors: 400 `REPOSITORY_AMBIGUOUS` if the repository name exists on more than one code host and `provider` is missing.',
        tags: ['Provenance'],
        querystring: ChangeQuery,
        response: { 200: ListEnvelope(ListedChange, 'A page of changes.') },
      },
    },
    async (request, reply) => {
      const { query, actor } = request
      const context = listContext(services, request)
      const page = readPage(query, context)
      const repositories = await findChangedRepositories(services, actor.org_id, query)
      const { branch = null, deviation = null, commit = null } = query
      const selection = { repositories, branch, deviation, commit }
      const listed = await services.reads.read((sql) =>
        listRows(sql, { page, query }, (shown) => listChanges(sql, actor.org_id, shown, selection)),
      )
      return sendPage(reply, { ...listed, page, query, context })
    },
  )

  app.get(
    '/v1/changes/:id',
    {
      config: { scope: 'read:attestations', permission: 'view' },
      schema: {
        operationId: 'getChange',
        summary: 'Get a change',
        description:
          'Returns a change with its record and amendments.\n\nErrors: 404 `not_found` if the change does not exist or ' +
          'landed before the data retention of the plan. For the id of a pull request also 404 with `details.reason` ' +
          '`NO_CHANGE` while its record is not written, and 409 `statement_unavailable` with `NOT_LANDED` if it was not ' +
          'merged or `NO_COMMIT` if its merge commit is not known.',
        tags: ['Provenance'],
        params: ChangePath,
        response: {
          200: Envelope(Change, 'The change.'),
          409: defineErrorResponse(
            '`statement_unavailable`: the pull request was not merged, or its merge commit is not known.',
          ),
        },
      },
    },
    async (request, reply) => {
      const { org_id, plan } = request.actor
      const { id } = await requireChange(services, org_id, request.params.id)
      const since = computeRetentionStart(plan, services.clock.now())
      const json = await findChangeJson(services.sql, org_id, id, since)
      if (json === null) throw createNotFoundError('change')
      return sendData(reply, json)
    },
  )
}
