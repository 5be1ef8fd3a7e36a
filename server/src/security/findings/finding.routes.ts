import type { Static } from 'typebox'
import { listContext } from '../../access/actor.ts'
import { computeRetentionStart } from '../../organizations/plan.ts'
import { listRows } from '../../platform/db/page.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { readPage, sendPage } from '../../platform/http/lists.ts'
import { sendData } from '../../platform/http/responses.ts'
import { Envelope, ListEnvelope } from '../../platform/http/schemas.ts'
import type { Services } from '../../services.ts'
import { selectRepositories } from '../repositories/select-repository.ts'
import { Finding, FindingPath, FindingQuery } from './finding.schema.ts'
import { findFinding, listFindings } from './finding.store.ts'
import type { FindingFilters } from './finding-filter.store.ts'

export async function registerFindingRoutes(app: HttpServer, services: Services): Promise<void> {
  app.get(
    '/v1/security/findings',
    {
      config: { scope: 'read:security', permission: 'view' },
      schema: {
        operationId: 'listFindings',
        summary: 'List findings',
        description:
          'Returns the raw findings of every source, newest first, including those of branches and those that are fixed or ' +
          'dismissed. Filters can be combined.\n\nErrors: 400 `REPOSITORY_AMBIGUOUS` if the repository name exists on more than one code host and ' +
          '`provider` is missing.',
        tags: ['Findings and issues'],
        querystring: FindingQuery,
        response: { 200: ListEnvelope(Finding, 'A page of findings.') },
      },
    },
    async (request, reply) => {
      const { query, actor } = request
      const context = listContext(services, request)
      const page = readPage(query, context)
      const listed = await services.reads.read(async (sql) => {
        const repositories = await selectRepositories(sql, actor.org_id, query)
        const selection = { ...repositories, ...toFilters(query) }
        return listRows(sql, { page, query }, (shown) => listFindings(sql, actor.org_id, shown, selection))
      })
      return sendPage(reply, { ...listed, page, query, context })
    },
  )

  app.get(
    '/v1/security/findings/:id',
    {
      config: { scope: 'read:security', permission: 'view' },
      schema: {
        operationId: 'getFinding',
        summary: 'Get a finding',
        description: 'Returns a finding of any source, state and branch.',
        tags: ['Findings and issues'],
        params: FindingPath,
        response: { 200: Envelope(Finding, 'The finding.') },
      },
    },
    async (request, reply) => {
      const { org_id, plan } = request.actor
      const since = computeRetentionStart(plan, services.clock.now())
      const json = await findFinding(services.sql, org_id, request.params.id, since)
      if (json === null) throw createNotFoundError('finding')
      return sendData(reply, json)
    },
  )
}

function toFilters(query: Static<typeof FindingQuery>): FindingFilters {
  const { state, severity, kind, scanner, category, git_ref, path, issue_id, first_seen_since } = query
  return {
    state: state ?? null,
    severity: severity ?? null,
    kind: kind ?? null,
    scanner: scanner ?? null,
    category: category ?? null,
    gitRef: git_ref ?? null,
    path: path ?? null,
    issueId: issue_id ?? null,
    firstSeenSince: first_seen_since === undefined ? null : new Date(first_seen_since),
  }
}
