import { runAlone } from '../../platform/db/advisory-lock.ts'
import { checkSql } from '../../platform/db/sql.ts'
import { enqueue } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { type CodeHost, HostUnavailable, type InstallationEvent } from '../code-host.ts'
import { applyInstallationEvent } from '../connections/apply-installation-event.ts'
import { type ConnectionName, findConnection } from '../connections/connection.store.ts'
import { openClient } from '../connections/open-client.ts'
import { deleteOtherRefusals, findRefusedRepository } from '../connections/refusal.store.ts'
import type { HostServices } from '../deliveries/host-event-handler.ts'
import { listRepositories } from './list-repositories.ts'
import { readRepositories } from './read-repositories.ts'
import { redeliverFailedJob } from './redeliver-failed.job.ts'
import {
  findTiming,
  type SyncPhase,
  type SyncScope,
  updateConnection,
  updateDueAt,
  updatePauses,
  updatePhase,
  updateSyncEnded,
  updateSyncPostponed,
  updateSyncStarted,
} from './sync.store.ts'
import { syncJob } from './sync-connection.job.ts'
import { countRepositories } from './sync-repository.store.ts'
import { readSafely, type SyncRun, SyncSlice } from './sync-run.ts'
import { SYNCED_LISTS } from './synced-list.ts'

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
  services.secretsOfConnections.forget(connectionId)
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
  const { org_id, connection_id, provider, due_at } = timing
  const delayMs = Math.max(0, due_at.getTime() - clock.now().getTime())
  await enqueue(sql, syncJob, { org_id, connection_id, provider }, delayMs)
}

/**
 * Reads the installation of a connection, so that a suspension or its end, or a new name of the
 * account takes effect although its event was missed. Returns whether the connection is active.
 */
async function followInstallation(services: Services, host: CodeHost, connection: ConnectionName): Promise<boolean> {
  const secrets = await services.secretsOfConnections.read(connection.id)
  const installation = await host.readInstallation(connection.installation_id, secrets?.credentials ?? null)
  // Another App's installation does not exist either. A connection is removed only by an event.
  if (installation === null) return connection.status === 'active'
  const event: InstallationEvent = { change: 'changed', installation, added: [], removed: [] }
  await services.sql.begin((tx) => applyInstallationEvent(services, tx, connection, event))
  return (await findConnection(services.sql, connection.id))?.status === 'active'
}

const FIRST_PAUSE_MS = 5000
const PAUSE_MS_MAX = 15 * 60_000
/** Limits of requests end within an hour. */
const RETRY_MS_MAX = 60 * 60_000
const ERROR_CHARS_MAX = 1000

/** A repository of which the host refuses all of these is not read, whatever else it has. */
const REQUIRED_LISTS = SYNCED_LISTS.filter(({ is_optional }) => !is_optional).map(({ name }) => name)

/** Ends a synchronization that has read everything it could. */
async function completeSync({ services, sync }: SyncRun): Promise<void> {
  const now = services.clock.now()
  await services.sql.begin((tx) => deleteOtherRefusals(tx, sync, sync.number))
  const refused = await findRefusedRepository(services.sql, sync, REQUIRED_LISTS)
  const { noted, first_note } = await countRepositories(services.sql, sync)
  const incomplete =
    noted === 0 ? [] : [`Repositories that were not read completely: ${noted}. The first: ${first_note}`]
  const note = [sync.repositories_walk?.failure ?? [], incomplete].flat().join('. ') || null
  const result =
    refused === null ? ({ state: 'idle', error: note } as const) : ({ state: 'failed', error: refused } as const)
  await updateSyncEnded(services.sql, sync, result, now)
  services.log.info({ connection_id: sync.connection_id, incomplete: noted }, 'A connection was synchronized')
}

/**
 * Pauses a synchronization after a failure that concerns all of it. The pauses grow while nothing
 * gets through.
 */
async function scheduleSyncRetry({ services, sync, slice }: SyncRun, error: Error): Promise<void> {
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
