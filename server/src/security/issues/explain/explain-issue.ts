import type { Services } from '../../../services.ts'
import { plainId } from '../../vocabulary/vulnerability-id.ts'
import { readCanonicalIds } from '../writing/grouping.store.ts'
import {
  type Evidence,
  findIssue,
  readGroupAssertions,
  readHistory,
  readNeighbours,
  readOwnFindings,
} from './issue-evidence.store.ts'
import type { IssueExplanation } from './issue-explanation.schema.ts'
import { explainGroup } from './issue-explanation.ts'

/** More findings of one package or file than these are counted and not looked at. */
const FINDINGS_READ_MAX = 1000

/**
 * Why the findings of an issue are one, by the rules that group findings, asked again. Null where the organization has no such
 * issue, or none that was made since.
 */
export async function explainIssue(
  { sql }: Services,
  orgId: string,
  id: string,
  since: Date,
): Promise<IssueExplanation | null> {
  return sql.begin('isolation level repeatable read read only', async (tx) => {
    const issue = await findIssue(tx, orgId, id, since)
    if (issue === null) return null
    const own = await readOwnFindings(tx, orgId, issue, FINDINGS_READ_MAX)
    const isMerged = issue.merged_into !== null
    const neighbours = isMerged ? { rows: [], count: 0 } : await readNeighbours(tx, orgId, issue, FINDINGS_READ_MAX)
    const ids = namedIds([...own.rows, ...neighbours.rows])
    const canonicalIds = await readCanonicalIds(tx, ids)
    const assertions = await readGroupAssertions(tx, [...new Set(canonicalIds.values())])
    const canonicalId = (named: string) => canonicalIds.get(named) ?? named
    const group = explainGroup(own.rows, neighbours.rows, { canonicalId, assertions })
    const { status, split_from, merged_into } = issue
    const history = await readHistory(tx, orgId, id)
    const counts = { member_count: own.count, rejected_count: neighbours.count }
    return { issue_id: id, status, split_from, merged_into, ...group, ...counts, history }
  })
}

function namedIds(findings: readonly Evidence[]): string[] {
  return [...new Set(findings.flatMap(({ vuln_ids: ids }) => ids.map(plainId)))]
}
