import type { Db, Tx } from '../../platform/db/sql.ts'
import type { Services } from '../../services.ts'
import type { HostAlertName, HostAlertType } from '../host-alert.ts'
import type { HostDeployment } from '../host-deployment.ts'
import type { HostEventKind, HostEvents, HostSource } from '../host-event.ts'
import type { HostRepository } from '../host-repository.ts'

/**
 * Applies one event in the caller's transaction. Events arrive late, twice and out of order, from
 * webhooks and from lists, in several processes at the same time: the result must not depend on
 * their order. Requests to the host belong in a job that the handler enqueues.
 */
export type HostEventHandler<Kind extends HostEventKind> = (
  services: Services,
  tx: Tx,
  source: HostSource,
  data: HostEvents[Kind],
) => Promise<void>

/** The handlers of each kind, in the order in which they are called. */
export type HostEventHandlers = { readonly [Kind in HostEventKind]: readonly HostEventHandler<Kind>[] }

/** What jobs that apply events get: the services, and the handlers of the slices above. */
export type HandlingServices = Services & { readonly handlers: HostEventHandlers }

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
