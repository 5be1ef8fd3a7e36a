import type { Tx } from '../../platform/db/sql.ts'
import { serviceUnavailable } from '../../platform/http/errors.ts'
import { lockTriaged } from '../issues/writing/grouping.store.ts'

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
