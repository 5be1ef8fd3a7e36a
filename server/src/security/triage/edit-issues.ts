import { type Actor, toPrincipal } from '../../access/actor.ts'
import { insertAuditEntry } from '../../audit/audit.store.ts'
import { differentRepositories, findingNotInIssue, issueMerged } from '../../errors/security.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { createInvalidFieldError, createNotFoundError } from '../../platform/http/errors.ts'
import { createUuid } from '../../platform/ids.ts'
import type { Services } from '../../services.ts'
import { describeEdit } from '../issues/grouping/pins.ts'
import {
  type EditedIssue,
  findIssues,
  insertEdit,
  insertSplitIssue,
  listFindingIds,
  listIssueIds,
} from '../issues/issue-edit.store.ts'
import { settleIssues } from '../issues/regroup-buckets.ts'
import { updateIssueOfAllFindings, updateIssueOfFindings } from '../writing/finding-writing.store.ts'
import type { MergeScope } from '../writing/grouping.store.ts'
import { updateDissolvedIssues } from '../writing/issue-writing.store.ts'
import { insertTriage } from '../writing/triage.store.ts'
import { refreshTriaged, waitForRepositories } from '../writing/write-triage.ts'

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

function requireUnmerged(issue: EditedIssue): EditedIssue {
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
