import { runAlone } from '../../platform/db/advisory-lock.ts'
import { checkSql } from '../../platform/db/sql.ts'
import { enqueue } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import type { CodeHost } from '../code-host.ts'
import { type ConnectionName, findConnection } from '../connections/connection.store.ts'
import { openClient } from '../connections/open-client.ts'
import { completeSync, scheduleSyncRetry } from './end-sync.ts'
import { followInstallation } from './follow-installation.ts'
import type { HostServices } from './host-parts.ts'
import { listRepositories } from './list-repositories.ts'
import { readRepositories } from './read-repositories.ts'
import { readSafely } from './read-safely.ts'
import { redeliverFailedJob } from './redeliver-failed.job.ts'
import {
  findTiming,
  type SyncPhase,
  type SyncScope,
  updateConnection,
  updatePhase,
  updateSyncPostponed,
  updateSyncStarted,
} from './sync.store.ts'
import { syncJob } from './sync-connection.job.ts'
import type { SyncRun } from './sync-run.ts'
import { SyncSlice } from './sync-slice.ts'

/**
 * Works on the synchronization of a connection for some seconds, and queues a job for the rest.
 * Only one process works on a connection at a time. What is stored at any moment is enough to
 * continue.
 */
export async function synchronizeConnection(
  services: HostServices,
  { connection_id }: SyncScope,
  stopping?: AbortSignal,
): Promise<void> {
  const slice = new SyncSlice(services.clock, stopping)
  const isOurs = await runAlone(services.sql, `synchronization ${connection_id}`, async () => {
    const run = await openRun(services, connection_id, slice)
    if (run !== null) await work(run)
  })
  slice.throwIfStopping()
  // After the lock was released: a request that found it locked is seen here.
  if (isOurs) await queueRest(services, connection_id)
}

/** Null if nothing is due, or the connection is not active. */
async function openRun(services: HostServices, connectionId: string, slice: SyncSlice): Promise<SyncRun | null> {
  const { sql, clock, codeHosts } = services
  const connection = await findConnection(sql, connectionId)
  const host = connection && (await codeHosts.get(connection.provider))
  if (!connection || !host) return null
  const client = await openClient(services, connection)
  if (client === null) {
    await rest(services, host, connection)
    return null
  }
  const sync = await updateSyncStarted(sql, connectionId, clock.now())
  if (sync === null) return null
  const { org_id, provider } = connection
  const source = { org_id, connection_id: connectionId, provider, host: connection.host }
  return { services, parts: services, connection, source, host, client, sync, slice }
}

/**
 * A suspended connection is idle. Every hour, its host is asked whether the suspension has ended.
 */
async function rest(services: Services, host: CodeHost, connection: ConnectionName): Promise<void> {
  const { sql, clock, log } = services
  await updateSyncPostponed(sql, connection.id, clock.now())
  await updateConnection(sql, connection.id, { sync_state: 'idle', sync_phase: null, sync_error: null })
  if (connection.status !== 'suspended') return
  await followInstallation(services, host, connection).catch(({ message }) =>
    log.warn({ connection_id: connection.id, message }, 'Could not read a suspended installation'),
  )
}

async function work(run: SyncRun): Promise<void> {
  const { services, slice } = run
  try {
    if (await workOnPhases(run)) await completeSync(run)
  } catch (error) {
    slice.throwIfStopping()
    await checkSql(services.sql)
    await scheduleSyncRetry(run, error as Error)
  }
}

type Phase = { name: SyncPhase; work(run: SyncRun): Promise<boolean> }

const PHASES: readonly Phase[] = [
  { name: 'deliveries', work: prepare },
  { name: 'repositories', work: listRepositories },
  { name: 'objects', work: readRepositories },
]

/** Returns false if the time of the job ended before the last phase did. */
async function workOnPhases(run: SyncRun): Promise<boolean> {
  const { services, sync } = run
  for (const { name, work } of PHASES.slice(PHASES.findIndex((phase) => phase.name === sync.phase))) {
    await services.sql.begin((tx) => updatePhase(tx, sync, name))
    if (!(await work(run))) return false
  }
  return true
}

/** Finds a suspension that was missed, and has failed deliveries asked for. */
async function prepare(run: SyncRun): Promise<boolean> {
  const { services, host, connection } = run
  const warn = (error: Error) =>
    services.log.warn({ connection_id: connection.id, err: error }, 'Could not read an installation')
  const isActive = await readSafely(run, () => followInstallation(services, host, connection), warn)
  if (isActive === false) return false
  await enqueue(services.sql, redeliverFailedJob, { provider: connection.provider })
  return true
}

/** Queues the next job of a synchronization that is in progress or was requested. */
async function queueRest({ sql, clock }: Services, connectionId: string): Promise<void> {
  const timing = await findTiming(sql, connectionId)
  if (!timing?.is_open) return
  const { org_id, connection_id, due_at } = timing
  const delayMs = Math.max(0, due_at.getTime() - clock.now().getTime())
  await enqueue(sql, syncJob, { org_id, connection_id }, delayMs)
}
