import type { Clock } from '../../platform/clock.ts'
import { checkSql } from '../../platform/db/sql.ts'
import type { Services } from '../../services.ts'
import { type CodeHost, type HostClient, HostRefusal, HostUnavailable } from '../code-host.ts'
import type { ConnectionName } from '../connections/connection.store.ts'
import type { HostParts } from '../deliveries/host-event-handler.ts'
import type { HostSource } from '../host-event.ts'
import type { HostRepository } from '../host-repository.ts'
import type { Sync } from './sync.store.ts'

/** A job's work on a synchronization. */
export type SyncRun = {
  services: Services
  parts: HostParts
  connection: ConnectionName
  source: HostSource
  host: CodeHost
  client: HostClient
  sync: Sync
  slice: SyncSlice
}

/** The reading of one repository. */
export type RepositoryPass = {
  run: SyncRun
  repository: HostRepository
  now: Date
  /** `<list> <id>` of the items that were read. */
  seen: Set<string>
  /** The ids of the items of each list that was read whole, as its first page. */
  whole: Map<string, ReadonlySet<string>>
  /** Why the host refuses lists, by their names. */
  refusals: Map<string, HostRefusal>
  /** Notes what could not be read. */
  note(what: string, error: unknown): void
}

/**
 * How long one job works on a synchronization. Then it queues the next one, behind the jobs that
 * wait: a long import does not hold up other jobs.
 */
const SLICE_MS = 5000

/** The time in which one job works on a synchronization. */
export class SyncSlice {
  readonly #clock: Clock
  readonly #endsAt: number
  readonly #stopping: AbortSignal | undefined
  #ended = false
  /** True when something was read or stored in this slice. */
  progressed = false

  constructor(clock: Clock, stopping: AbortSignal | undefined) {
    this.#clock = clock
    this.#endsAt = clock.now().getTime() + SLICE_MS
    this.#stopping = stopping
  }

  /** True when nothing more is to be started: its time is over, or the worker stops. */
  get isOver(): boolean {
    return this.#ended || this.#stopping?.aborted === true || this.#clock.now().getTime() >= this.#endsAt
  }

  /** Ends the slice early, after a failure that concerns everything. */
  end(): void {
    this.#ended = true
  }

  /** Throws if the worker stops, so that the job goes back to the queue. */
  throwIfStopping(): void {
    this.#stopping?.throwIfAborted()
  }
}

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
        // What failed only after the time of the job was over would start again in every job.
        if (tries < TRIES_MAX && !run.slice.isOver) continue
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
