import type { Services } from '../../services.ts'
import type { CodeHost, HostClient } from '../code-host.ts'
import type { ConnectionName } from '../connections/connection.store.ts'
import type { HostSource } from '../host-event.ts'
import type { HostRepository } from '../host-repository.ts'
import type { HostParts } from './host-parts.ts'
import type { Sync } from './sync.store.ts'
import type { SyncSlice } from './sync-slice.ts'

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
  /** Notes what could not be read. */
  note(what: string, error: unknown): void
}
