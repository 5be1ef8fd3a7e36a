import type { Tx } from '../../platform/db/sql.ts'
import { serviceUnavailable } from '../../platform/http/errors.ts'
import { defineEvent, publish } from '../../platform/queue/event.ts'
import { definePayload, text } from '../../platform/queue/payload.ts'
import { update } from '../../platform/queue/update.ts'
import { lockTriaged } from './grouping.store.ts'
import { updateRefreshedIssues } from './issue-writing.store.ts'
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

/**
 * Published when findings of a repository were triaged. `repository` is the name of the repository
 * as `owner/name`.
 */
export const findingsTriaged = defineEvent('security.findings.triaged', {
  payload: definePayload({ org_id: text, repository: text }),
  subject: ({ repository }) => ({ type: 'finding', id: null, repository }),
  updates: () => [update('finding'), update('issue'), update('triage')],
  once: ({ org_id, repository }) => `${org_id} ${repository}`,
})

/** PostgreSQL's code for a lock that was not available in time. */
const LOCK_NOT_AVAILABLE = '55P03'
const RETRY_SECONDS = 5

/**
 * Locks the repositories for a request of a person. Throws 503 `unavailable` if a report of one of
 * them is being read for longer than 10 seconds.
 */
export async function waitForRepositories(tx: Tx, orgId: string, repositoryNos: readonly number[]): Promise<void> {
  try {
    await lockTriaged(tx, orgId, repositoryNos, { wait: 'bounded' })
  } catch (error) {
    if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error
    const message = 'A report of the repository is being processed. Try again later.'
    throw serviceUnavailable(message).retryAfter(RETRY_SECONDS).causedBy(error)
  }
}
