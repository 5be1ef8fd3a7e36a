import { buildSpreadCondition } from '../../platform/db/spread.ts'
import type { Db } from '../../platform/db/sql.ts'

/**
 * Why, when and by whom a row `finding` was dismissed: by the triage that decides its state, or
 * else by its report or alert. All columns are null if the finding is not dismissed. For `left join
 * lateral (…) dismissal on true`.
 */
export function buildFindingDismissal(db: Db, orgId: string) {
  return db`(
    select triage.reason as dismiss_reason, triage.comment as dismiss_comment, triage.created_by_name as dismissed_by_name,
      triage.created_at as dismissed_at, triage.source as dismissal_source, triage.expires_at as dismissal_expires_at
    from triages triage
    where finding.triaged_state = 'dismissed'
      and triage.org_id = finding.org_id ${buildSpreadCondition(db, 'triage', orgId)}
      and triage.id = finding.triage_id
    union all
    select finding.reported_dismiss_reason, finding.reported_dismiss_comment, finding.reported_dismissed_by_name,
      finding.reported_dismissed_at, finding.reported_dismissal_source, null
    where finding.triaged_state is null
  )`
}
