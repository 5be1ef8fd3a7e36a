import { HostUnavailable } from '../code-host.ts'
import { updateConnection, updateDueAt, updatePauses, updateSyncEnded } from './sync.store.ts'
import { countRepositories } from './sync-repository.store.ts'
import type { SyncRun } from './sync-run.ts'

const FIRST_PAUSE_MS = 5000
const PAUSE_MS_MAX = 15 * 60_000
/** Limits of requests end within an hour. */
const RETRY_MS_MAX = 60 * 60_000
const ERROR_CHARS_MAX = 1000

/** Ends a synchronization that has read everything it could. */
export async function completeSync({ services, sync }: SyncRun): Promise<void> {
  const now = services.clock.now()
  const { noted, first_note } = await countRepositories(services.sql, sync)
  const note = noted === 0 ? null : `Repositories that were not read completely: ${noted}. The first: ${first_note}`
  await updateSyncEnded(services.sql, sync, note, now)
  services.log.info({ connection_id: sync.connection_id, incomplete: noted }, 'A connection was synchronized')
}

/**
 * Pauses a synchronization after a failure that concerns all of it. The pauses grow while nothing
 * gets through.
 */
export async function scheduleSyncRetry({ services, sync, slice }: SyncRun, error: Error): Promise<void> {
  const { sql, clock, log } = services
  await sql.begin(async (tx) => {
    const pauses = await updatePauses(tx, sync, slice.progressed)
    const pauseMs = pauseAfter(error, pauses, clock.now())
    await updateDueAt(tx, sync, new Date(clock.now().getTime() + pauseMs))
    const sync_error = error.message.slice(0, ERROR_CHARS_MAX)
    await updateConnection(tx, sync.connection_id, { sync_state: 'failed', sync_error })
    log.warn({ connection_id: sync.connection_id, err: error, pause_ms: pauseMs }, 'A synchronization pauses')
  })
}

/** At least as long as the host asks for. */
function pauseAfter(error: Error, pauses: number, now: Date): number {
  const grown = Math.min(FIRST_PAUSE_MS * 3 ** (pauses - 1), PAUSE_MS_MAX)
  const retryAt = error instanceof HostUnavailable ? error.retryAt : null
  return retryAt === null ? grown : Math.max(grown, Math.min(retryAt.getTime() - now.getTime(), RETRY_MS_MAX))
}
