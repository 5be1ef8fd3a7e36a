import { type Actor, toPrincipal } from '../../access/actor.ts'
import { insertAuditEntry } from '../../audit/audit.store.ts'
import { differentRepositories } from '../../errors/security.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { createInvalidFieldError, createNotFoundError } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import { type EditedIssue, findIssues, insertEdit } from '../issues/edits/edit-writing.store.ts'
import { settleIssues } from '../issues/edits/settle-issues.ts'
import { describeEdit } from '../issues/grouping/pins.ts'
import type { MergeScope } from '../issues/writing/grouping.store.ts'
import { updateDissolvedIssues } from '../issues/writing/issue-writing.store.ts'
import { type Edited, requireUnmerged } from './split-issue.ts'
import { waitForRepositories } from './wait-for-repositories.ts'
import { refreshTriaged } from './writing/refresh-triaged.ts'
import { insertTriage } from './writing/triage.store.ts'
import { updateIssueOfAllFindings } from './writing/triaged-finding.store.ts'

type MergeRequest = { issueIds: readonly string[]; comment: string | null }

/**
 * Merges issues of one repository into the oldest of them. Their findings stay together whatever
 * reports say later. Throws 404 `not_found` for an issue that does not exist, 409 `issue_merged`,
 * 409
 * `different_repositories`, 400 `invalid_request` for a single issue, and 503 `unavailable`.
 */
export async function mergeIssues(services: Services, actor: Actor, request: MergeRequest): Promise<Edited> {
  const { sql, clock, ruleMap } = services
  const ids = [...new Set(request.issueIds)]
  if (ids.length < 2) throw createInvalidFieldError('/body/issue_ids', 'must name at least two issues')
  return sql.begin(async (tx) => {
    const { repository_no } = (await requireIssues(tx, actor.org_id, ids))[0] as EditedIssue
    await waitForRepositories(tx, actor.org_id, [repository_no])
    const at = clock.now()
    const scope: MergeScope = { org_id: actor.org_id, repository_no, has_edits: true, at }
    const [kept, ...others] = (await requireIssues(tx, actor.org_id, ids)) as [EditedIssue, ...EditedIssue[]]
    const triageId = await recordMerge(tx, actor, { issueIds: ids, comment: request.comment }, at)
    const gone = others.map(({ id }) => id)
    await insertEdit(tx, scope, { triageId, issueIds: ids, moved: [] })
    await updateIssueOfAllFindings(tx, scope, gone, kept.id)
    await updateDissolvedIssues(
      tx,
      actor.org_id,
      gone.map((id) => ({ id, into: kept.id })),
      at,
    )
    const detail = describeEdit({ by: toPrincipal(actor).name, comment: request.comment }, 'Merged')
    await settleIssues(tx, scope, ruleMap, {
      issueIds: [kept.id],
      buckets: [kept, ...others].map(({ bucket }) => bucket),
      changes: gone.map((id) => ({ event: 'merged', issue_id: id, other_issue_id: kept.id, detail })),
    })
    await refreshTriaged(tx, actor.org_id, [kept.id], at)
    return { triageId, issueIds: [kept.id] }
  })
}

/** Returns the issues, oldest first. */
async function requireIssues(tx: Tx, orgId: string, ids: readonly string[]): Promise<EditedIssue[]> {
  const issues = await findIssues(tx, orgId, ids)
  if (issues.length < ids.length) throw createNotFoundError('issue')
  for (const issue of issues) requireUnmerged(issue)
  if (new Set(issues.map(({ repository_no }) => repository_no)).size > 1) throw differentRepositories()
  return issues
}

async function recordMerge(tx: Tx, actor: Actor, { issueIds, comment }: MergeRequest, at: Date): Promise<string> {
  const by = toPrincipal(actor)
  const triageId = await insertTriage(tx, actor.org_id, {
    action: 'merge',
    source: 'shiplock',
    target: { type: 'issue', ids: issueIds },
    reason: null,
    comment,
    expires_at: null,
    by: { id: by.id, name: by.name },
    at,
  })
  const entry = {
    principal: by,
    action: 'issue.merge',
    object: { type: 'issue', id: issueIds.toSorted()[0] as string },
  }
  const details = { triage_id: triageId, issue_ids: issueIds }
  await insertAuditEntry(tx, actor.org_id, { ...entry, reason: comment, details }, at)
  return triageId
}
