import type { Tx } from '../../../platform/db/sql.ts'
import type { RuleMap } from '../../vocabulary/rule-map.ts'
import type { IssueChange } from '../grouping/issue-change.ts'
import { KnownRules } from '../grouping/known-rules.ts'
import { regroupBuckets } from '../regroup/regroup-buckets.ts'
import type { MergeScope } from '../writing/grouping.store.ts'
import { updateThreats } from '../writing/issue-threat.store.ts'
import { insertHistory } from '../writing/issue-writing.store.ts'

/** Issues whose findings have moved, with what is to be recorded in their history. */
type Edited = { issueIds: readonly string[]; buckets: readonly string[]; changes: readonly IssueChange[] }

/**
 * Brings the reasons of findings and the fields of issues in line, after an edit was stored or
 * undone
 * and the findings were moved. The caller refreshes the status of the issues.
 */
export async function settleIssues(
  tx: Tx,
  scope: MergeScope,
  ruleMap: RuleMap,
  { issueIds, buckets, changes }: Edited,
): Promise<void> {
  await insertHistory(tx, scope.org_id, changes, scope.at)
  const rules = new KnownRules(ruleMap)
  await regroupBuckets(tx, scope, { buckets: [...new Set(buckets)], rules, cause: { by: 'rules' } })
  await updateThreats(tx, scope.org_id, issueIds)
}
