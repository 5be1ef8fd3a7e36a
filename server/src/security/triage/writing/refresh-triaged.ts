import type { Tx } from '../../../platform/db/sql.ts'
import { type Event, publish } from '../../../platform/queue/event.ts'
import { payloadOf } from '../../../platform/queue/payload.ts'
import { refreshIssues } from '../../issues/writing/issue-refresh.store.ts'
import { listNamesOfIssues } from './triage.store.ts'

/**
 * Published when findings of a repository were triaged. `repository` is the name of the repository
 * as `owner/name`.
 */
export const findingsTriaged: Event<{ org_id: string; repository: string }> = {
  name: 'security.findings.triaged',
  payload: payloadOf('org_id', 'repository'),
  once: ({ org_id, repository }) => `${org_id} ${repository}`,
}

/**
 * Updates the issues whose findings were triaged, and lets gates and results be evaluated again.
 */
export async function refreshTriaged(tx: Tx, orgId: string, issueIds: readonly string[], at: Date): Promise<void> {
  if (issueIds.length === 0) return
  await refreshIssues(tx, orgId, issueIds, at)
  for (const repository of await listNamesOfIssues(tx, orgId, issueIds))
    await publish(tx, findingsTriaged, { org_id: orgId, repository })
}
