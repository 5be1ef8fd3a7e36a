import { OrganizationPath } from '../../access/gateway/open-to-people.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Envelope } from '../../platform/http/schemas.ts'
import { update } from '../../platform/updates/update.ts'
import type { Services } from '../../services.ts'
import { listIssuesById } from '../issues/issue-list.store.ts'
import { truncateText } from '../vocabulary/bounded-text.ts'
import { EditedIssuePath, EditedIssues, IssueMerge, IssueSplit } from './issue-edit.schema.ts'
import { mergeIssues } from './merge-issues.ts'
import { type Edited, splitIssue } from './split-issue.ts'
import { TRIAGE_COMMENT_MAX } from './triage.schema.ts'

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
