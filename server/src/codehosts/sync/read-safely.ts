import { checkSql } from '../../platform/db/sql.ts'
import { type HostClient, HostRefusal, HostUnavailable } from '../code-host.ts'
import type { SyncRun } from './sync-run.ts'

const TRIES_MAX = 2

/**
 * Reads something from the host. A failure that concerns only this is passed to `onFailure`, and
 * the result is null. Throws if the host or the database does not respond at all, or the
 * worker stops.
 */
export async function readSafely<Result>(
  run: SyncRun,
  read: () => Promise<Result>,
  onFailure: (error: Error) => void,
): Promise<Result | null> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await read()
    } catch (error) {
      run.slice.throwIfStopping()
      if (error instanceof HostUnavailable) {
        await requireHost(run.client, error)
        if (tries < TRIES_MAX) continue
      } else if (!(error instanceof HostRefusal)) {
        await checkSql(run.services.sql)
      }
      onFailure(error as Error)
      return null
    }
  }
}

/**
 * Hosts fail for single lists while they answer others. Throws `error` if this one answers nothing.
 */
async function requireHost(client: HostClient, error: HostUnavailable): Promise<void> {
  try {
    await client.listRepositories({})
  } catch {
    throw error
  }
}
