import type { FastifyRequest } from 'fastify'
import { listContext, toPrincipal } from '../../access/actor.ts'
import { ORGANIZATION_PATH } from '../../access/gateway/authorize-people.ts'
import { OrganizationPath, OrganizationSlug } from '../../access/gateway/open-to-people.ts'
import { listRows } from '../../platform/db/page.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { readPage, sendPage } from '../../platform/http/lists.ts'
import { sendData } from '../../platform/http/responses.ts'
import { Closed, Envelope, ListEnvelope } from '../../platform/http/schemas.ts'
import { update } from '../../platform/queue/update.ts'
import type { Services } from '../../services.ts'
import { listIssuesById } from '../issues/issue.store.ts'
import { truncateText } from '../vocabulary/bounded-text.ts'
import { createTriage } from './create-triage.ts'
import { type Edited, mergeIssues, splitIssue } from './edit-issues.ts'
import { undoTriage } from './end-triage.ts'
import {
  EditedIssuePath,
  EditedIssues,
  IssueMerge,
  IssueSplit,
  NewTriageRequest,
  TRIAGE_COMMENT_MAX,
  Triage,
  TriageId,
  TriageQuery,
} from './triage.schema.ts'
import { findTriageJson, listTriages } from './triage-list.store.ts'

const PATH = `${ORGANIZATION_PATH}/security/triage`
const TriagePath = Closed({ org: OrganizationSlug, id: TriageId })

/** What a triage changes besides itself. */
const TRIAGED = [update('issue'), update('finding'), update('alert')]

export async function registerTriageRoutes(app: HttpServer, services: Services): Promise<void> {
  const { sql } = services

  app.post(
    PATH,
    {
      config: { permission: 'triage', updates: ({ created }) => [update('triage', created), ...TRIAGED] },
      schema: {
        operationId: 'createTriage',
        summary: 'Dismiss or reopen findings, issues or alerts',
        description:
          'Dismisses or reopens up to 1,000 findings, issues or alerts: all of them, or none. Later reports do not change ' +
          'the decision. A dismissal of an issue dismisses its findings, and findings that join the issue later at ' +
          'the same place. The alert of a finding is dismissed or reopened on its code host as well.\n\nErrors: 404 `not_found` if one of them ' +
          'does not exist (`details.ids`). 409 `not_open` if one of them cannot be dismissed, because it is fixed or a ' +
          'person has dismissed it. 409 `not_dismissed` if one of them cannot be reopened. 409 `not_connected` if the ' +
          'repository of an alert is not connected. 503 `unavailable` if a report of the repository is being processed.',
        tags: ['Triage'],
        params: OrganizationPath,
        body: NewTriageRequest,
        response: { 201: Envelope(Triage, 'The triage.') },
      },
    },
    async (request, reply) => {
      const { actor, body } = request
      const id = await createTriage(services, actor.org_id, toPrincipal(actor), body)
      request.created = id
      reply.code(201)
      return sendData(reply, (await findTriageJson(sql, actor.org_id, id)) as string)
    },
  )

  app.get(
    PATH,
    {
      config: { permission: 'view' },
      schema: {
        operationId: 'listTriages',
        summary: 'List triages',
        description:
          'Returns dismissals, reopenings, splits and merges by people, and what VEX documents dismiss, newest first.',
        tags: ['Triage'],
        params: OrganizationPath,
        querystring: TriageQuery,
        response: { 200: ListEnvelope(Triage, 'A page of triages.') },
      },
    },
    async (request, reply) => {
      const { actor, query } = request
      const context = listContext(services, request as FastifyRequest)
      const page = readPage(query, context)
      const listed = await listRows(sql, { page, query }, (shown) => listTriages(sql, actor.org_id, shown, query))
      return sendPage(reply, { ...listed, page, query, context })
    },
  )

  app.get(
    `${PATH}/:id`,
    {
      config: { permission: 'view' },
      schema: {
        operationId: 'getTriage',
        summary: 'Get a triage',
        description: 'Returns a dismissal, a reopening, a split or a merge.',
        tags: ['Triage'],
        params: TriagePath,
        response: { 200: Envelope(Triage, 'The triage.') },
      },
    },
    async ({ actor, params }, reply) => {
      const json = await findTriageJson(sql, actor.org_id, params.id)
      if (json === null) throw createNotFoundError('triage')
      return sendData(reply, json)
    },
  )

  app.post(
    `${PATH}/:id/undo`,
    {
      config: { permission: 'triage', updates: ({ params }) => [update('triage', params.id), ...TRIAGED] },
      schema: {
        operationId: 'undoTriage',
        summary: 'Undo a triage',
        description:
          'Undoes a triage: its findings, issues and alerts are again as they would be without it.\n\nErrors: 409 ' +
          '`triage_ended` if the triage was undone or has expired. 409 `triaged_again` if something that it changed was ' +
          'triaged later (`details.ids` has the later triages). 409 `stated_by_document` if a VEX document states the ' +
          'triage. 503 `unavailable` if a report of the repository is being processed.',
        tags: ['Triage'],
        params: TriagePath,
        response: { 200: Envelope(Triage, 'The triage, which has ended.') },
      },
    },
    async ({ actor, params }, reply) => {
      await undoTriage(services, actor.org_id, toPrincipal(actor), params.id)
      return sendData(reply, (await findTriageJson(sql, actor.org_id, params.id)) as string)
    },
  )
}

export async function registerIssueEditRoutes(app: HttpServer, services: Services): Promise<void> {
  app.post(
    '/app/api/orgs/:org/security/issues/:id/split',
    {
      config: {
        permission: 'triage',
        feature: 'unique_issues',
        updates: ({ params }) => [update('issue', params.id), update('finding'), update('triage')],
      },
      schema: {
        operationId: 'splitIssue',
        summary: 'Split an issue',
        description:
          'Moves findings of an issue to a new issue. The findings of the two issues stay apart whatever reports, ' +
          'aliases and grouping rules say later. New findings that repeat a finding of one of the issues join that issue. ' +
          'The split is recorded in the history of the issues and in the audit log, and can be undone.\n\nErrors: 404 ' +
          '`not_found` if the issue or a finding does not exist. 409 `issue_merged` if the issue was merged into another ' +
          'one (`details.mergedInto`), `finding_not_in_issue` if findings belong to another issue ' +
          '(`details.findingIds`). 400 `invalid_request` if no finding would remain in the issue. ' +
          '503 `unavailable` if a report of the repository is being processed.',
        tags: ['Triage'],
        params: EditedIssuePath,
        body: IssueSplit,
        response: { 200: Envelope(EditedIssues, 'The issue was split.') },
      },
    },
    async ({ actor, params, body }) => {
      const request = { issueId: params.id, findingIds: body.finding_ids, comment: getComment(body) }
      return { data: await editedIssues(services, actor.org_id, await splitIssue(services, actor, request)) }
    },
  )

  app.post(
    '/app/api/orgs/:org/security/issues/merge',
    {
      config: {
        permission: 'triage',
        feature: 'unique_issues',
        updates: () => [update('issue'), update('finding'), update('triage')],
      },
      schema: {
        operationId: 'mergeIssues',
        summary: 'Merge issues',
        description:
          'Moves the findings of several issues of one repository to the oldest of them. The findings stay together ' +
          'whatever reports, aliases and grouping rules say later. The merge is recorded in the history of the issues and ' +
          'in the audit log, and can be undone.\n\nErrors: 404 `not_found` if an issue does not exist. 409 `issue_merged` ' +
          'if an issue was merged into another one already (`details.mergedInto`), `different_repositories` if the ' +
          'issues belong to different repositories. 400 `invalid_request` for fewer than two different issues. 503 ' +
          '`unavailable` if a report of the repository is being processed.',
        tags: ['Triage'],
        params: OrganizationPath,
        body: IssueMerge,
        response: { 200: Envelope(EditedIssues, 'The issues were merged.') },
      },
    },
    async ({ actor, body }) => {
      const request = { issueIds: body.issue_ids, comment: getComment(body) }
      return { data: await editedIssues(services, actor.org_id, await mergeIssues(services, actor, request)) }
    },
  )
}

function getComment({ comment }: { comment?: string | null }): string | null {
  return truncateText(comment ?? null, TRIAGE_COMMENT_MAX)
}

async function editedIssues({ sql }: Services, orgId: string, { triageId, issueIds }: Edited) {
  return { triage_id: triageId, issues: await listIssuesById(sql, orgId, issueIds) }
}
