import type { Static } from 'typebox'
import { listContext } from '../../access/actor.ts'
import { computeRetentionStart } from '../../organizations/plan.ts'
import { listRows } from '../../platform/db/page.ts'
import type { Db } from '../../platform/db/sql.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { type Page, readPage, sendPage } from '../../platform/http/lists.ts'
import { sendData } from '../../platform/http/responses.ts'
import { Envelope, ListEnvelope } from '../../platform/http/schemas.ts'
import type { Services } from '../../services.ts'
import { listAliases } from '../intel/alias.store.ts'
import { selectRepositories } from '../repositories/select-repository.ts'
import { collectVulnerabilityIds, removeDistribution } from '../vocabulary/vulnerability-id.ts'
import { explainIssue } from './explain-issue.ts'
import { computePackageBuckets } from './grouping/bucket.ts'
import { Issue, IssueQuery } from './issue.schema.ts'
import { findIssueJson, listIssues } from './issue.store.ts'
import { IssueExplanation, IssuePath } from './issue-explanation.schema.ts'
import type { IssueSelection } from './issue-page.store.ts'

export async function registerIssueRoutes(app: HttpServer, services: Services): Promise<void> {
  app.get(
    '/v1/security/issues',
    {
      config: { scope: 'read:security', permission: 'view', feature: 'unique_issues' },
      schema: {
        operationId: 'listIssues',
        summary: 'List issues',
        description:
          'Returns unique issues: findings of the same problem from all scanners, branches and categories, grouped into ' +
          'one issue. An issue is listed if at least one of its findings is tracked.\n\nErrors: 400 ' +
          '`REPOSITORY_AMBIGUOUS` if the repository name exists on more than one code host and `provider` is missing.',
        tags: ['Findings and issues'],
        querystring: IssueQuery,
        response: { 200: ListEnvelope(Issue, 'A page of issues.') },
      },
    },
    async (request, reply) => {
      const { query, actor } = request
      const context = listContext(services, request)
      const page = pageSince(readPage(query, context), query.created_since)
      const listed = await services.reads.read(async (sql) => {
        const repositories = await selectRepositories(sql, actor.org_id, query)
        const names = await selectNames(sql, query)
        const selection = { ...repositories, ...names, ...toFilters(query) }
        return listRows(sql, { page, query }, (shown) => listIssues(sql, actor.org_id, shown, selection))
      })
      return sendPage(reply, { ...listed, page, query, context })
    },
  )

  app.get(
    '/v1/security/issues/:id',
    {
      config: { scope: 'read:security', permission: 'view', feature: 'unique_issues' },
      schema: {
        operationId: 'getIssue',
        summary: 'Get an issue',
        description:
          'Returns an issue, also if none of its findings is tracked.\n\nErrors: 404 `not_found` also for an issue that ' +
          'was merged into another one. explainIssue names the other one.',
        tags: ['Findings and issues'],
        params: IssuePath,
        response: { 200: Envelope(Issue, 'The issue.') },
      },
    },
    async (request, reply) => {
      const { org_id, plan } = request.actor
      const since = computeRetentionStart(plan, services.clock.now())
      const json = await findIssueJson(services.sql, org_id, request.params.id, since)
      if (json === null) throw createNotFoundError('issue')
      return sendData(reply, json)
    },
  )

  app.get(
    '/v1/security/issues/:id/explain',
    {
      config: { scope: 'read:security', permission: 'view', feature: 'unique_issues' },
      schema: {
        operationId: 'explainIssue',
        summary: 'Explain an issue',
        description:
          'Returns the findings of the issue with the rules that grouped them, similar findings that belong to other ' +
          'issues with the reason, and the merges and splits of the issue.',
        tags: ['Findings and issues'],
        params: IssuePath,
        response: { 200: Envelope(IssueExplanation, 'The explanation.') },
      },
    },
    async (request) => {
      const { org_id, plan } = request.actor
      const since = computeRetentionStart(plan, services.clock.now())
      const explanation = await explainIssue(services, org_id, request.params.id, since)
      if (explanation === null) throw createNotFoundError('issue')
      return { data: explanation }
    },
  )
}

/** The page without what was created before this time, also if it is open. */
function pageSince(page: Page, createdSince: string | undefined): Page {
  if (createdSince === undefined) return page
  const since = new Date(Math.max(Date.parse(createdSince), page.since.getTime()))
  return { ...page, since, asked: [since.getTime(), page.asked[1]] }
}

function toFilters({ severity, status, kind, kev, urgent, epss_min, sort = 'newest' }: Static<typeof IssueQuery>) {
  return {
    severity: severity ?? null,
    status: status ?? null,
    kind: kind ?? null,
    kev: kev ?? null,
    urgent: urgent ?? null,
    epssMin: epss_min ?? null,
    sort,
  } satisfies Partial<IssueSelection>
}

type NameQuery = { vulnerability?: string; package?: string }

/** The filters of a query that name a vulnerability or a package. */
async function selectNames(db: Db, query: NameQuery): Promise<Pick<IssueSelection, 'vulnIds' | 'buckets'>> {
  return {
    vulnIds: query.vulnerability === undefined ? null : await listIds(db, query.vulnerability.trim()),
    buckets: query.package === undefined ? null : computePackageBuckets(query.package.trim()),
  }
}

/** The id in canonical case, with all its aliases. */
async function listIds(db: Db, text: string): Promise<string[]> {
  const id = collectVulnerabilityIds([text])[0] ?? text
  return [...new Set([id, removeDistribution(id), ...(await listAliases(db, removeDistribution(id)))])]
}
