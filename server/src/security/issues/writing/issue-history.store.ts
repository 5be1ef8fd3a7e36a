import type { Db } from '../../../platform/db/sql.ts'
import type { IssueChange } from '../grouping/issue-change.ts'

/** Notes what became of issues, and why. */
export async function insertHistory(db: Db, orgId: string, changes: readonly IssueChange[], at: Date): Promise<void> {
  if (changes.length === 0) return
  await db`
    insert into issue_history (org_id, issue_id, at, event, other_issue_id, detail)
    select ${orgId}, issue_id, ${at}, event, other_issue_id, detail
    from unnest(
      ${changes.map((change) => change.issue_id)}::uuid[], ${changes.map(({ event }) => event)}::text[],
      ${changes.map((change) => change.other_issue_id)}::uuid[], ${changes.map(({ detail }) => detail)}::text[]
    ) as change (issue_id, event, other_issue_id, detail)`
}
