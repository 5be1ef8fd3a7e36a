import type { Tx } from '../../../platform/db/sql.ts'
import { publish } from '../../../platform/queue/event.ts'
import { updateRefreshedIssues } from '../../issues/writing/issue-refresh.store.ts'
import { findingsTriaged } from './triage.events.ts'
import { listNamesOfIssues } from './triage.store.ts'

/**
 * Updates the issues whose findings were triaged, and lets gates and results be evaluated again.
 */
export async function refreshTriaged(tx: Tx, orgId: string, issueIds: readonly string[], at: Date): Promise<void> {
  if (issueIds.length === 0) return
  await updateRefreshedIssues(tx, orgId, issueIds, at)
  for (const repository of await listNamesOfIssues(tx, orgId, issueIds))
    await publish(tx, findingsTriaged, { org_id: orgId, repository })
}
