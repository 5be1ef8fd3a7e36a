import {
  defineExpiringWithParts,
  deleteBy,
  type Expiring,
  type ExpiringWithId,
} from '../../platform/db/expiring-rows.ts'
import { isOfRepositories, lockIdleRepositories } from './writing/idle-repository.store.ts'

/**
 * Issues of which no finding is left: they are closed, or were merged into another one. Their ids
 * begin with the time of their creation, and ids are sorted.
 */
const EXPIRED: ExpiringWithId = {
  kind: 'issues',
  table: 'security_issues',
  order: 'id',
  isExpired: (db, { before }) => db`
    item.created_at < ${before}
    and item.updated_at < ${before}
    and not exists (
      select from findings finding
      where finding.org_id = item.org_id
        and finding.issue_id = item.id
    )`,
}

const issues = defineExpiringWithParts(EXPIRED, (tx, orgId, ids) =>
  deleteBy(tx, { tables: ['issue_history'], column: 'issue_id' }, orgId, ids),
)

export const expiringIssues: Expiring = {
  ...issues,
  async remove(tx, batch) {
    const condition = isOfRepositories(tx, await lockIdleRepositories(tx, EXPIRED, batch))
    return issues.remove(tx, { ...batch, condition })
  },
}
