import { defineExpiringRows, type Expiring, type ExpiringTable } from '../../../platform/db/expiring-rows.ts'
import type { Db, Tx } from '../../../platform/db/sql.ts'

/** The rows with which regroups are undone, and then the regroups themselves. */
export const expiringRegroups: readonly Expiring[] = [
  expiringLog('issue_regroup_findings', 'finding_id'),
  expiringLog('issue_regroup_issues', 'issue_id'),
  defineExpiringRows({
    kind: 'issue_regroups',
    table: 'issue_regroups',
    key: ['id'],
    order: 'id',
    isExpired: (db, { before }) => db`
      ${hasEnded(db, before)}
      and not exists (
        select from issue_regroup_findings part
        where part.org_id = item.org_id
          and part.regroup_id = item.id
      )
      and not exists (
        select from issue_regroup_issues part
        where part.org_id = item.org_id
          and part.regroup_id = item.id
      )`,
  }),
]

/**
 * A regroup of which rows are missing must not be undone: it is marked before the first is removed.
 */
function expiringLog(table: string, part: string): Expiring {
  const rows: ExpiringTable = {
    kind: table,
    table,
    key: ['regroup_id', 'batch', part],
    order: 'regroup_id',
    isExpired: (db, { org_id, before }) => db`item.regroup_id = any(array(
      select item.id
      from issue_regroups item
      where item.org_id = ${org_id}
        and ${hasEnded(db, before)}
    ))`,
  }
  const expiring = defineExpiringRows(rows)
  return {
    ...expiring,
    async remove(tx, batch) {
      await markExpired(tx, batch.org_id, batch.before)
      return expiring.remove(tx, batch)
    },
  }
}

async function markExpired(tx: Tx, orgId: string, before: Date): Promise<void> {
  await tx`
    update issue_regroups item
    set status = 'expired'
    where item.org_id = ${orgId}
      and item.status <> 'expired'
      and ${hasEnded(tx, before)}`
}

function hasEnded(db: Db, before: Date) {
  return db`item.status in ('finished', 'undone', 'expired') and item.updated_at < ${before}`
}
