import { type Actor, toPrincipal } from '../../access/actor.ts'
import { insertAuditEntry } from '../../audit/audit.store.ts'
import { findingNotInIssue, issueMerged } from '../../errors/security.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { createInvalidFieldError, createNotFoundError } from '../../platform/http/errors.ts'
import { createUuid } from '../../platform/ids.ts'
import type { Services } from '../../services.ts'
import {
  type EditedIssue,
  findIssues,
  insertEdit,
  insertSplitIssue,
  listFindingIds,
  listIssueIds,
} from '../issues/edits/edit-writing.store.ts'
import { settleIssues } from '../issues/edits/settle-issues.ts'
import { describeEdit } from '../issues/grouping/pins.ts'
import type { MergeScope } from '../issues/writing/grouping.store.ts'
import { waitForRepositories } from './wait-for-repositories.ts'
import { refreshTriaged } from './writing/refresh-triaged.ts'
import { insertTriage } from './writing/triage.store.ts'
import { updateIssueOfFindings } from './writing/triaged-finding.store.ts'

type SplitRequest = { issueId: string; findingIds: readonly string[]; comment: string | null }

/** `issueIds`: the issue that was split, and the new one. */
export type Edited = { triageId: string; issueIds: string[] }

/**
 * Moves findings of an issue to a new issue. They stay apart whatever reports say later. Throws 404
 * `not_found` for an issue or a finding that does not exist, 409 `issue_merged`, 409
 * `finding_not_in_issue`, 400 `invalid_request` if no finding would remain, and 503 `unavailable`.
 */
export async function splitIssue(services: Services, actor: Actor, request: SplitRequest): Promise<Edited> {
  const { sql, clock, ruleMap } = services
  const { issueId, comment } = request
  const moved = [...new Set(request.findingIds)]
  return sql.begin(async (tx) => {
    const { repository_no } = await requireIssue(tx, actor.org_id, issueId)
    await waitForRepositories(tx, actor.org_id, [repository_no])
    const at = clock.now()
    const scope: MergeScope = { org_id: actor.org_id, repository_no, has_edits: true, at }
    const { bucket } = await requireSplit(tx, actor.org_id, issueId, moved)
    const triageId = await recordSplit(tx, actor, { issueId, findingIds: moved, comment }, at)
    const newId = createUuid(at)
    await insertEdit(tx, scope, { triageId, issueIds: [issueId], moved })
    await insertSplitIssue(tx, scope, newId, issueId)
    await updateIssueOfFindings(tx, scope, moved, newId)
    const detail = describeEdit({ by: toPrincipal(actor).name, comment }, 'Split')
    const change = { event: 'split', issue_id: newId, other_issue_id: issueId, detail } as const
    await settleIssues(tx, scope, ruleMap, { issueIds: [issueId, newId], buckets: [bucket], changes: [change] })
    await refreshTriaged(tx, actor.org_id, [issueId, newId], at)
    return { triageId, issueIds: [issueId, newId] }
  })
}

/** Checks the request under the lock. */
async function requireSplit(tx: Tx, orgId: string, issueId: string, moved: readonly string[]): Promise<EditedIssue> {
  const issue = await requireIssue(tx, orgId, issueId)
  const issues = await listIssueIds(tx, orgId, moved)
  if (issues.size < moved.length) throw createNotFoundError('finding')
  const elsewhere = moved.filter((id) => issues.get(id) !== issueId)
  if (elsewhere.length > 0) {
    throw findingNotInIssue(issueId, elsewhere)
  }
  const all = await listFindingIds(tx, orgId, issueId)
  if (all.length === moved.length)
    throw createInvalidFieldError('/body/finding_ids', 'must leave at least one finding in the issue')
  return issue
}

/** Throws 404 `not_found` or 409 `issue_merged`. */
async function requireIssue(tx: Tx, orgId: string, id: string): Promise<EditedIssue> {
  const [issue] = await findIssues(tx, orgId, [id])
  if (issue === undefined) throw createNotFoundError('issue')
  return requireUnmerged(issue)
}

export function requireUnmerged(issue: EditedIssue): EditedIssue {
  if (issue.merged_into === null) return issue
  throw issueMerged(issue.id, issue.merged_into)
}

async function recordSplit(tx: Tx, actor: Actor, request: SplitRequest, at: Date): Promise<string> {
  const { issueId, findingIds, comment } = request
  const by = toPrincipal(actor)
  const triageId = await insertTriage(tx, actor.org_id, {
    action: 'split',
    source: 'shiplock',
    target: { type: 'issue', ids: [issueId] },
    reason: null,
    comment,
    expires_at: null,
    by: { id: by.id, name: by.name },
    at,
  })
  const details = { triage_id: triageId, finding_ids: findingIds }
  const object = { type: 'issue', id: issueId }
  await insertAuditEntry(
    tx,
    actor.org_id,
    { principal: by, action: 'issue.split', object, reason: comment, details },
    at,
  )
  return triageId
}
