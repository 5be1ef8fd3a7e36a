import type { Tx } from '../../platform/db/sql.ts'
import type { RuleMap } from '../vocabulary/rule-map.ts'
import { type StoredEdit, updateRestoredFindings } from '../writing/finding-writing.store.ts'
import type { MergeScope } from '../writing/grouping.store.ts'
import { insertHistory, updateDissolvedIssues } from '../writing/issue-writing.store.ts'
import type { IssueChange } from './grouping/describe-groups.ts'
import { describeEdit } from './grouping/pins.ts'
import { deleteEdit, type EditMove, findEdit, findIssues, listEmpty, listMoves } from './issue-edit.store.ts'
import { settleIssues } from './regroup-buckets.ts'

/** A split or a merge to undo, who undoes it, and when. */
type UndoneEdit = { org_id: string; triage_id: string; action: 'split' | 'merge'; by: string; at: Date }

/**
 * Undoes a split or a merge: restores the issue of each finding, and lets the rules decide about
 * the
 * findings that were added since. Returns the issues that changed, for the caller to refresh. The
 * repository must be locked.
 */
export async function undoEdit(tx: Tx, ruleMap: RuleMap, undone: UndoneEdit): Promise<string[]> {
  const { org_id, at } = undone
  const edit = await findEdit(tx, org_id, undone.triage_id)
  if (edit === null) return []
  const scope: MergeScope = { org_id, repository_no: edit.repository_no, has_edits: true, at }
  const moves = await listMoves(tx, edit)
  const issueIds = [...new Set(moves.flatMap(({ before, now }) => [before, now]))]
  const buckets = (await findIssues(tx, org_id, issueIds)).map(({ bucket }) => bucket)
  await updateRestoredFindings(tx, edit, at)
  await deleteEdit(tx, edit)
  const changes = undone.action === 'merge' ? returned(moves, undone) : []
  await settleIssues(tx, scope, ruleMap, { issueIds, buckets, changes })
  await dissolveEmpty(tx, edit, moves, undone)
  return issueIds
}

/** The issues that a merge had dissolved. */
function returned(moves: readonly EditMove[], undone: UndoneEdit): IssueChange[] {
  const into = new Map(moves.filter(({ before, now }) => before !== now).map(({ before, now }) => [before, now]))
  return [...into].map(([before, now]) => ({
    event: 'split',
    issue_id: before,
    other_issue_id: now,
    detail: undoSentence(undone),
  }))
}

/**
 * The issue that a split had created is merged back, unless findings were added that stay in it.
 */
async function dissolveEmpty(tx: Tx, edit: StoredEdit, moves: readonly EditMove[], undone: UndoneEdit): Promise<void> {
  const into = new Map(moves.filter(({ before, now }) => before !== now).map(({ before, now }) => [now, before]))
  const empty = await listEmpty(tx, edit.org_id, [...into.keys()])
  const dissolved = empty.map((id) => ({ id, into: into.get(id) as string }))
  await updateDissolvedIssues(tx, edit.org_id, dissolved, undone.at)
  const detail = undoSentence(undone)
  const changes = dissolved.map(({ id, into: other_issue_id }) => ({
    event: 'merged',
    issue_id: id,
    other_issue_id,
    detail,
  })) as IssueChange[]
  await insertHistory(tx, edit.org_id, changes, undone.at)
}

function undoSentence({ action, by }: UndoneEdit): string {
  return describeEdit({ by, comment: null }, action === 'split' ? 'The split was undone' : 'The merge was undone')
}
