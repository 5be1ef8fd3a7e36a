import type { Db } from '../../../platform/db/sql.ts'
import type { IssueChange } from '../grouping/issue-change.ts'

/** Records that issues were merged or split. */
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

const EVENTS_MAX = 100

/** Reads the merges and splits that concern an issue, newest first. */
export async function readHistory(db: Db, orgId: string, issueId: string): Promise<(IssueChange & { at: string })[]> {
  return db<(IssueChange & { at: string })[]>`
    select event, issue_id, other_issue_id, detail, rfc3339(at) as at
    from issue_history
    where org_id = ${orgId}
      and (issue_id = ${issueId} or other_issue_id = ${issueId})
    order by id desc
    limit ${EVENTS_MAX}`
}
