import type { Services } from '../../../services.ts'
import { removeDistribution } from '../../vocabulary/vulnerability-id.ts'
import { KnownRules } from '../grouping/known-rules.ts'
import { findEdits } from '../writing/edit.store.ts'
import { listCanonicalIds } from '../writing/grouping.store.ts'
import {
  type Evidence,
  findIssue,
  listGroupAssertions,
  listHistory,
  listOtherFindings,
  listOwnFindings,
} from './issue-evidence.store.ts'
import type { IssueExplanation } from './issue-explanation.schema.ts'
import { explainGroup } from './issue-explanation.ts'

/**
 * Explains how an issue was grouped by applying the rules again. Returns null if the organization
 * has no such issue, or if it was created before `since`.
 */
export async function explainIssue(
  { sql, ruleMap }: Services,
  orgId: string,
  id: string,
  since: Date,
): Promise<IssueExplanation | null> {
  return sql.begin('isolation level repeatable read read only', async (tx) => {
    const issue = await findIssue(tx, orgId, id, since)
    if (issue === null) return null
    const own = await listOwnFindings(tx, orgId, issue)
    const isMerged = issue.merged_into !== null
    const others = isMerged ? { rows: [], count: 0 } : await listOtherFindings(tx, orgId, issue, own.rows)
    const ids = collectPlainIds([...own.rows, ...others.rows])
    const canonicalIds = await listCanonicalIds(tx, ids)
    const assertions = await listGroupAssertions(tx, [...new Set(canonicalIds.values())])
    const canonicalId = (vulnId: string) => canonicalIds.get(vulnId) ?? vulnId
    const ofAll = [...own.rows, ...others.rows].map((finding) => finding.id)
    const edits = issue.has_edits ? await findEdits(tx, orgId, ofAll) : null
    const known = { canonicalId, assertions, rules: new KnownRules(ruleMap), edits }
    const group = explainGroup(own.rows, others.rows, known)
    const { status, split_from, merged_into } = issue
    const history = await listHistory(tx, orgId, id)
    const counts = { member_count: own.count, rejected_count: others.count }
    return { issue_id: id, status, split_from, merged_into, ...group, ...counts, history }
  })
}

function collectPlainIds(findings: readonly Evidence[]): string[] {
  return [...new Set(findings.flatMap(({ vuln_ids: ids }) => ids.map(removeDistribution)))]
}
