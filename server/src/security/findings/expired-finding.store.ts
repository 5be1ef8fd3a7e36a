import {
  countExpired,
  deleteBy,
  type Expiring,
  type ExpiringWithId,
  lockExpired,
} from '../../platform/db/expiring-rows.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { isOfRepositories, lockIdleRepositories } from '../issues/writing/idle-repository.store.ts'
import { updateRefreshedIssues } from '../issues/writing/issue-refresh.store.ts'

/**
 * Findings that were fixed, or dismissed by their source, and that no report has contained since.
 * A finding that is still reported stays, also if a person has dismissed it: the next report would
 * open it again. The finding of an alert stays while the alert does.
 */
const EXPIRED: ExpiringWithId = {
  kind: 'findings',
  table: 'findings',
  order: 'last_seen_at',
  isExpired: (db, { before }) => db`
    item.reported_state <> 'open'
    and item.last_seen_at < ${before}
    and item.updated_at < ${before}
    and not exists (
      select from alert_findings link
      where link.org_id = item.org_id
        and link.finding_id = item.id
    )`,
}

/** The parts of findings: what triages and edits of issues say about them. */
const PARTS = { tables: ['triage_findings', 'issue_pins'], column: 'finding_id' }

export const expiringFindings = buildExpiringFindings(EXPIRED)

/** Findings with their parts. Their issues are settled anew. */
export function buildExpiringFindings(expired: ExpiringWithId): Expiring {
  return {
    kind: expired.kind,
    count: (db, expiry) => countExpired(db, expired, expiry),
    async remove(tx, batch) {
      const condition = isOfRepositories(tx, await lockIdleRepositories(tx, expired, batch))
      const { ids, removal } = await lockExpired(tx, expired, { ...batch, condition })
      if (ids.length === 0) return removal
      const issueIds = await listIssues(tx, batch.org_id, ids)
      await deleteBy(tx, PARTS, batch.org_id, ids)
      await deleteBy(tx, { tables: [expired.table], column: 'id' }, batch.org_id, ids)
      await updateRefreshedIssues(tx, batch.org_id, issueIds, batch.at)
      return removal
    },
  }
}

async function listIssues(tx: Tx, orgId: string, ids: readonly string[]): Promise<string[]> {
  const rows = await tx<{ issue_id: string }[]>`
    select distinct issue_id
    from findings
    where org_id = ${orgId}
      and id = any(${[...ids]})`
  return rows.map(({ issue_id }) => issue_id)
}
