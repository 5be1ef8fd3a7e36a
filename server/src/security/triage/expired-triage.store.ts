import { defineExpiringRows } from '../../platform/db/expiring-rows.ts'

/** Triages that have ended, or all of whose findings and alerts have expired. */
export const expiringTriages = defineExpiringRows({
  kind: 'triages',
  table: 'triages',
  key: ['id'],
  order: 'id',
  isExpired: (db, { before }) => db`
    item.created_at < ${before}
    and (item.ended_at is null or item.ended_at < ${before})
    and not exists (
      select from triage_findings part
      where part.org_id = item.org_id
        and part.triage_id = item.id
    )
    and not exists (
      select from triage_alerts part
      where part.org_id = item.org_id
        and part.triage_id = item.id
    )
    and not exists (
      select from issue_edits edit
      where edit.org_id = item.org_id
        and edit.triage_id = item.id
    )`,
})
