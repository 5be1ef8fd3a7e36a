import { checkSql } from '../../platform/db/sql.ts'
import { enqueue } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { findConnection } from '../connections/connection.store.ts'
import { openClient } from '../connections/open-client.ts'
import { listRepositories } from './list-repositories.ts'
import { readRepositories } from './read-repositories.ts'
import { readSafely } from './read-safely.ts'
import { redeliverFailed } from './redeliver-failed.ts'
import { syncJob } from './request-sync.ts'
import {
  beginSync,
  continueAt,
  countPause,
  enterPhase,
  findTiming,
  finishSync,
  type SyncPhase,
  type SyncScope,
  updateConnection,
} from './sync.store.ts'
import { withSyncLock } from './sync-lock.store.ts'
import { summarizeNotes } from './sync-repository.store.ts'
import type { SyncParts, SyncRun } from './sync-run.ts'
import { SyncSlice } from './sync-slice.ts'

const EVERY_MS = 60 * 60_000
const FIRST_PAUSE_MS = 5000
const PAUSE_MS_MAX = 15 * 60_000
const ERROR_CHARS_MAX = 1000

/**
 * Works on the synchronisation of a connection for some seconds, and queues a job for the rest. Only
 * one process works on a connection at a time. What is stored at any moment is enough to continue.
 */
export async function synchronizeConnection(
  services: Services,
  parts: SyncParts,
  { connection_id }: SyncScope,
  stopping?: AbortSignal,
): Promise<void> {
  const slice = new SyncSlice(services.clock, stopping)
  const isOurs = await withSyncLock(services.sql, connection_id, async () => {
    const run = await openRun(services, parts, connection_id, slice)
    if (run !== null) await work(run)
  })
  slice.throwIfStopping()
  // After the lock was released: a request that found it locked is seen here.
  if (isOurs) await queueRest(services, connection_id)
}

/** Null if nothing is due, or the connection is not active. */
async function openRun(
  services: Services,
  parts: SyncParts,
  connectionId: string,
  slice: SyncSlice,
): Promise<SyncRun | null> {
  const { sql, clock, codeHosts } = services
  const connection = await findConnection(sql, connectionId)
  const client = connection && openClient(services, connection)
  const host = connection && codeHosts.get(connection.provider)
  if (!connection || !client || !host) {
    await updateConnection(sql, connectionId, { sync_state: 'idle', sync_phase: null, sync_error: null })
    return null
  }
  const sync = await beginSync(sql, connectionId, clock.now())
  if (sync === null) return null
  const source = { ...connection, connection_id: connection.id }
  return { services, parts, source, host, client, sync, slice }
}

async function work(run: SyncRun): Promise<void> {
  const { services, slice } = run
  try {
    if (await workOnPhases(run)) await finish(run)
  } catch (error) {
    slice.throwIfStopping()
    await checkSql(services.sql)
    await pause(run, error as Error)
  }
}

type Phase = { name: SyncPhase; work(run: SyncRun): Promise<boolean> }

const PHASES: readonly Phase[] = [
  { name: 'deliveries', work: redeliverIfPossible },
  { name: 'repositories', work: listRepositories },
  { name: 'objects', work: readRepositories },
]

/** Returns false if the time of the job ended before the last phase did. */
async function workOnPhases(run: SyncRun): Promise<boolean> {
  const { services, sync } = run
  for (const { name, work } of PHASES.slice(PHASES.findIndex((phase) => phase.name === sync.phase))) {
    await services.sql.begin((tx) => enterPhase(tx, sync, name))
    if (!(await work(run))) return false
  }
  return true
}

/** The lists show what failed deliveries reported, so a host that does not repeat them is no failure. */
async function redeliverIfPossible(run: SyncRun): Promise<boolean> {
  const isComplete = await readSafely(
    run,
    () => redeliverFailed(run),
    ({ message }) => run.services.log.warn({ message }, 'Could not ask for failed deliveries'),
  )
  return isComplete ?? true
}

async function finish({ services, sync }: SyncRun): Promise<void> {
  const now = services.clock.now()
  const { count, first } = await summarizeNotes(services.sql, sync)
  const note = count === 0 ? null : `Repositories that were not read completely: ${count}. The first: ${first}`
  await finishSync(services.sql, sync, note && note.slice(0, ERROR_CHARS_MAX), now, new Date(now.getTime() + EVERY_MS))
  services.log.info({ connection_id: sync.connection_id, incomplete: count }, 'A connection was synchronised')
}

/** The pauses grow while nothing gets through. */
async function pause({ services, sync, slice }: SyncRun, error: Error): Promise<void> {
  const { sql, clock, log } = services
  await sql.begin(async (tx) => {
    const pauses = await countPause(tx, sync, slice.progressed)
    const pauseMs = Math.min(FIRST_PAUSE_MS * 3 ** (pauses - 1), PAUSE_MS_MAX)
    await continueAt(tx, sync, new Date(clock.now().getTime() + pauseMs))
    const sync_error = error.message.slice(0, ERROR_CHARS_MAX)
    await updateConnection(tx, sync.connection_id, { sync_state: 'failed', sync_error })
    log.warn({ connection_id: sync.connection_id, err: error, pause_ms: pauseMs }, 'A synchronisation pauses')
  })
}

/** Queues the next job of a synchronisation that is in progress or was requested. */
async function queueRest({ sql, clock }: Services, connectionId: string): Promise<void> {
  const timing = await findTiming(sql, connectionId)
  if (!timing?.is_active || !timing.is_open) return
  const { org_id, connection_id, due_at } = timing
  const delayMs = Math.max(0, due_at.getTime() - clock.now().getTime())
  await enqueue(sql, syncJob, { org_id, connection_id }, delayMs)
}
