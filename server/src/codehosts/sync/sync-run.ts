import type { Db } from '../../platform/db/sql.ts'
import type { Services } from '../../services.ts'
import type { CodeHost, HostClient } from '../code-host.ts'
import type { ConnectionName } from '../connections/connection.store.ts'
import type { HostEventHandlers } from '../deliveries/host-event-handler.ts'
import type { HostAlertName, HostAlertType } from '../host-alert.ts'
import type { HostDeployment } from '../host-deployment.ts'
import type { HostSource } from '../host-event.ts'
import type { HostRepository } from '../host-repository.ts'
import type { Sync } from './sync.store.ts'
import type { SyncSlice } from './sync-slice.ts'

/** What the synchronization needs of the slices above it. jobs.ts provides it. */
export type SyncParts = {
  handlers: HostEventHandlers
  /** The host's ids of runs that are stored as queued or in progress, newest first. */
  listOpenRuns(db: Db, orgId: string, repository: HostRepository, limit: number): Promise<string[]>
  /** Alerts that the host last called open, newest first. */
  listOpenAlerts(db: Db, orgId: string, alerts: OpenAlerts): Promise<HostAlertName[]>
  /** Deployments that are stored as waiting or in progress, newest first. */
  listOpenDeployments(db: Db, orgId: string, repository: HostRepository, limit: number): Promise<HostDeployment[]>
}

/** The open alerts of one type in a repository; at most `limit` of them. */
export type OpenAlerts = { repository: HostRepository; type: HostAlertType; limit: number }

/** A job's work on a synchronization. */
export type SyncRun = {
  services: Services
  parts: SyncParts
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
