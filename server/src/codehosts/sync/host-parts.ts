import type { Db } from '../../platform/db/sql.ts'
import type { Services } from '../../services.ts'
import type { HostEventHandlers } from '../deliveries/host-event-handler.ts'
import type { HostAlertName, HostAlertType } from '../host-alert.ts'
import type { HostDeployment } from '../host-deployment.ts'
import type { HostRepository } from '../host-repository.ts'

/** What the jobs of code hosts need of the slices above: host-event-handlers.ts provides it. */
export type HostParts = {
  readonly handlers: HostEventHandlers
  /** Whether an event of the run, or of its attempt, has arrived. */
  isRunKnown(db: Db, run: NamedRun): Promise<boolean>
  /** The host's ids of runs that are stored as queued or in progress, newest first. */
  listOpenRuns(db: Db, orgId: string, repository: HostRepository, limit: number): Promise<string[]>
  /** Alerts that the host last called open, newest first. */
  listOpenAlerts(db: Db, orgId: string, alerts: OpenAlerts): Promise<HostAlertName[]>
  /** Deployments that are stored as waiting or in progress, newest first. */
  listOpenDeployments(db: Db, orgId: string, repository: HostRepository, limit: number): Promise<HostDeployment[]>
}

/** The open alerts of one type in a repository; at most `limit` of them. */
export type OpenAlerts = { repository: HostRepository; type: HostAlertType; limit: number }

/** A run that an event of something else names, by the id of its host. */
export type NamedRun = {
  org_id: string
  provider: string
  repository_id: string
  run_id: string
  /** The attempt that has to be known. Any if it is missing. */
  attempt?: number
}

/** What the program passes to the jobs of code hosts. */
export type HostServices = Services & HostParts
