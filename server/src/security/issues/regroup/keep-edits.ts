import type { Tx } from '../../../platform/db/sql.ts'
import type { Member } from '../grouping/grouping-facts.ts'
import type { KnownRules } from '../grouping/known-rules.ts'
import { type Cluster, computeClusters, splitBetween } from '../grouping/pins.ts'
import { findEdits } from '../writing/edit.store.ts'
import type { MergeScope } from '../writing/grouping.store.ts'
import { listEditedMembers } from '../writing/read-edited.ts'
import { regroupBuckets } from './regroup-buckets.ts'
import { listBuckets } from './undo-batch.store.ts'

/**
 * After a regroup was undone: regroups the findings of these issues by the current rules if a
 * person
 * has split or merged them since, and they are no longer apart or together.
 */
export async function restoreEdits(
  tx: Tx,
  scope: MergeScope,
  issueIds: readonly string[],
  rules: KnownRules,
): Promise<void> {
  const near = await listBuckets(tx, scope.org_id, issueIds)
  const { members, buckets } = await listEditedMembers(tx, scope, near, rules)
  const edits = await findEdits(
    tx,
    scope.org_id,
    members.flatMap(({ id }) => id ?? []),
  )
  if (areBroken(members, computeClusters(edits)))
    await regroupBuckets(tx, scope, { buckets, rules, cause: { by: 'rules' } })
}

function areBroken(members: readonly Member[], clusters: ReadonlyMap<string, Cluster>): boolean {
  const byIssue = new Map<string, Set<Cluster>>()
  const issueOf = new Map<Cluster, string>()
  for (const { id, issue_id } of members) {
    const cluster = clusters.get(id ?? '')
    if (cluster === undefined || issue_id === null) continue
    if ((issueOf.get(cluster) ?? issue_id) !== issue_id) return true
    issueOf.set(cluster, issue_id)
    byIssue.set(issue_id, (byIssue.get(issue_id) ?? new Set()).add(cluster))
  }
  return byIssue.values().some((inIssue) => splitBetween(inIssue, inIssue) !== null)
}
